package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.WorkerPool;
import io.rdmashuffle.transport.handover.Workers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs calls into the engine that may wait for a peer: few at a time in all, and one at a time per
 * peer, so that a peer that is gone cannot hold every thread.
 *
 * <p><b>Threads:</b> any may submit; nobody waits. How many jobs queue up is bounded by those who
 * submit: an engine's tasks have only so many requests in flight. All threads are made by {@link
 * #open}; before that, whoever submits a job does it.
 */
public final class PeerExecutor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeerExecutor.class);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(1);

  // A peer is a key while one of its jobs is queued or runs; its further jobs wait in the value.
  private final Map<String, Queue<Job>> waiting = new ConcurrentHashMap<>();
  private final Threads threads;
  private final int count;
  private volatile Workers workers = Work::perform;
  private boolean closed;

  public PeerExecutor(int threads) {
    this(threads, Gate.OPEN);
  }

  /**
   * @param gate what goes to the threads passes it
   */
  PeerExecutor(int threads, Gate gate) {
    this.threads = new Threads("engine", gate);
    this.count = threads;
  }

  /**
   * Makes the threads, unless they are there.
   *
   * @throws TransportException if they cannot be made now
   */
  public synchronized void open() throws TransportException { // once, and not after the end
    if (!closed && !(workers instanceof WorkerPool)) {
      workers = WorkerPool.open(threads, "calls", count);
    }
  }

  /** Runs {@code job} when its turn comes, or abandons it if this is closed before. */
  public void execute(String peerId, Job job) {
    Turn turn = new Turn(peerId, job);
    boolean[] first = new boolean[1];
    waiting.compute(
        peerId,
        (id, queue) -> {
          if (queue == null) {
            first[0] = true;
            return new ArrayDeque<>();
          }
          queue.add(job);
          return queue;
        });
    if (first[0]) {
      workers.execute(turn);
    }
  }

  /** The turn goes to the next job of its peer, whatever this one throws. */
  private void runTurn(Turn turn) {
    try {
      turn.job.run();
    } catch (RuntimeException | Error e) {
      LOG.error("a call to the engine's shuffle failed, peer {}", turn.peerId, e);
    } finally {
      turn.job = next(turn.peerId);
      if (turn.job != null) {
        workers.execute(turn);
      }
    }
  }

  private Job next(String peerId) {
    Job[] next = new Job[1];
    waiting.computeIfPresent(
        peerId,
        (id, queue) -> {
          next[0] = queue.poll();
          return next[0] == null ? null : queue;
        });
    return next[0];
  }

  /** Idempotent. Abandons what has not begun, interrupts what has, and waits a second for it. */
  @Override
  public synchronized void close() { // as open
    closed = true;
    if (workers instanceof WorkerPool pool) {
      pool.stop(CLOSE_TIMEOUT);
    }
  }

  /** A call that may wait for a peer. Exactly one of the two methods is called, once. */
  public interface Job {
    void run();

    /** The process is stopping; {@link #run} will not be called. Must not wait. */
    void abandon();
  }

  private final class Turn extends Work {
    private final String peerId;
    private Job job;

    Turn(String peerId, Job job) {
      this.peerId = peerId;
      this.job = job;
    }

    @Override
    protected void run() {
      runTurn(this);
    }

    /** Also abandons those who wait behind it. */
    @Override
    protected void abandoned(Throwable why) {
      Queue<Job> behind = waiting.remove(peerId);
      job.abandon();
      if (behind != null) {
        behind.forEach(Job::abandon);
      }
    }
  }
}
