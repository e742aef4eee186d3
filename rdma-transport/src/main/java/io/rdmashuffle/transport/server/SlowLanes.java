package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.channel.ProgressLoop;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

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
    private final Deque<Job> waiting = new ArrayDeque<>();

    private Lane(int capacity) {
      this.capacity = capacity;
    }

    /** Whether {@link #submit} would go over this lane's bound; what must run may do so. */
    boolean isFull() {
      return waiting.size() >= capacity;
    }

    void submit(Job job) {
      if (waiting.isEmpty()) {
        turns.add(this);
      }
      waiting.add(job);
      pump();
    }
  }

  private final ProgressLoop loop;
  private final Executor pool;
  private final int maxRunning;
  private final Deque<Lane> turns = new ArrayDeque<>();
  private int running;

  /**
   * @param maxRunning jobs given to the pool at a time: about its number of threads
   */
  SlowLanes(ProgressLoop loop, Executor pool, int maxRunning) {
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

  private void pump() {
    while (running < maxRunning && !turns.isEmpty()) {
      Lane lane = turns.poll();
      Job job = lane.waiting.poll();
      if (!lane.waiting.isEmpty()) {
        turns.add(lane);
      }
      start(job);
    }
  }

  private void start(Job job) {
    running++;
    try {
      pool.execute(() -> runAndReport(job));
    } catch (RejectedExecutionException e) {
      // Not from inside the submitter, who is not prepared to hear of the end yet.
      loop.execute(() -> finish(job, e));
    }
  }

  private void runAndReport(Job job) {
    Throwable failure = null;
    try {
      job.run();
    } catch (Throwable t) { // also an Error: the session waits for the end either way
      failure = t;
    }
    Throwable outcome = failure;
    loop.execute(() -> finish(job, outcome));
  }

  private void finish(Job job, Throwable failure) {
    running--;
    try {
      job.onDone(failure);
    } finally {
      pump();
    }
  }
}
