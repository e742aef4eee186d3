package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.handover.Errand;
import io.rdmashuffle.transport.handover.Workers;

/**
 * Shares the slow pool in turn among lanes, one per session: a reader that asks for much waits
 * longer itself, not the others. Few jobs are in the pool at a time, the rest wait here, where the
 * order can still be chosen.
 *
 * <p><b>Threads:</b> progress thread only; jobs run on the slow pool. <b>Errors:</b> a pool that
 * refuses work fails the job. There is nothing to close.
 */
final class SlowLanes {
  /** What the slow pool does. */
  interface Job {
    /** On the slow pool. */
    void run() throws Exception;

    /**
     * On the progress thread, exactly once, unless the loop stopped before.
     *
     * @param failure what {@link #run} threw, or why it did not run; null if it returned
     */
    void onDone(Throwable failure);
  }

  /** The waiting jobs of one session. */
  final class Lane {
    private final int capacity;
    private Turn first;
    private Turn last;
    private int waiting;
    private Lane next; // of those that have turns

    private Lane(int capacity) {
      this.capacity = capacity;
    }

    /** Whether {@link #submit} would go over this lane's bound; what must run may do so. */
    boolean isFull() {
      return waiting >= capacity;
    }

    /** If it throws, nothing has happened. */
    void submit(Job job) {
      submit(new Turn(job));
    }

    /** Allocates nothing. */
    void submit(Turn turn) {
      if (first == null) {
        first = turn;
        addTurnOf(this);
      } else {
        last.next = turn;
      }
      last = turn;
      waiting++;
      pump();
    }

    private Turn poll() {
      Turn turn = first;
      first = turn.next;
      turn.next = null;
      waiting--;
      return turn;
    }
  }

  private final ProgressLoop loop;
  private final Workers pool;
  private final int maxRunning;
  private Lane firstTurn;
  private Lane lastTurn;
  private int running;

  /**
   * @param maxRunning jobs given to the pool at a time: about its number of threads
   */
  SlowLanes(ProgressLoop loop, Workers pool, int maxRunning) {
    this.loop = loop;
    this.pool = pool;
    this.maxRunning = maxRunning;
  }

  /**
   * @param capacityJobs how many may wait
   */
  Lane newLane(int capacityJobs) {
    return new Lane(capacityJobs);
  }

  /** A job that is ready to be submitted, once. */
  Turn turn(Job job) {
    return new Turn(job);
  }

  private void addTurnOf(Lane lane) {
    if (firstTurn == null) {
      firstTurn = lane;
    } else {
      lastTurn.next = lane;
    }
    lastTurn = lane;
  }

  private void pump() {
    while (running < maxRunning && firstTurn != null) {
      Lane lane = firstTurn;
      firstTurn = lane.next;
      lane.next = null;
      Turn turn = lane.poll();
      if (lane.first != null) {
        addTurnOf(lane);
      }
      running++;
      pool.execute(turn);
    }
  }

  /** One job on its way to the pool and back. */
  final class Turn extends Errand {
    private final Job job;
    private Turn next; // of its lane

    private Turn(Job job) {
      super(loop);
      this.job = job;
    }

    @Override
    protected void go() throws Exception {
      job.run();
    }

    @Override
    protected void back(Throwable failure) {
      running--;
      try {
        job.onDone(failure);
      } finally {
        pump();
      }
    }
  }
}
