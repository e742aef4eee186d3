package io.rdmashuffle.spark.runtime;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs calls into the engine that may wait for a peer: few at a time in all, and one at a time per
 * peer, so that a peer that is gone cannot hold every thread.
 *
 * <p><b>Threads:</b> any may submit; nobody waits. How many jobs queue up is bounded by those who
 * submit: an engine's tasks have only so many requests in flight. Threads end when idle.
 */
public final class PeerExecutor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeerExecutor.class);
  private static final long CLOSE_TIMEOUT_MS = 1_000;

  private final ThreadPoolExecutor pool;
  // A peer is a key while one of its jobs is queued or runs; its further jobs wait in the value.
  private final Map<String, Queue<Job>> waiting = new ConcurrentHashMap<>();

  public PeerExecutor(int threads) {
    AtomicInteger number = new AtomicInteger();
    pool =
        new ThreadPoolExecutor(
            threads,
            threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            work -> {
              Thread thread = new Thread(work, "rdma-shuffle-engine-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    pool.allowCoreThreadTimeOut(true);
  }

  /** Runs {@code job} when its turn comes, or abandons it if this is closed before. */
  public void execute(String peerId, Job job) {
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
      submit(new Turn(peerId, job));
    }
  }

  private void submit(Turn turn) {
    try {
      pool.execute(turn);
    } catch (RejectedExecutionException e) {
      turn.abandon();
    }
  }

  private void runTurn(Turn turn) {
    try {
      turn.job().run();
    } catch (RuntimeException e) {
      LOG.error("a call to the engine's shuffle failed, peer {}", turn.peerId(), e);
    } finally {
      Job next = next(turn.peerId());
      if (next != null) {
        submit(new Turn(turn.peerId(), next));
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
  public void close() {
    List<Runnable> queued = pool.shutdownNow();
    queued.forEach(turn -> ((Turn) turn).abandon());
    try {
      if (!pool.awaitTermination(CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS)) {
        LOG.warn("{} calls to the engine's shuffle do not end", pool.getActiveCount());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A call that may wait for a peer. Exactly one of the two methods is called, once. */
  public interface Job {
    void run();

    /** The process is stopping; {@link #run} will not be called. Must not wait. */
    void abandon();
  }

  private final class Turn implements Runnable {
    private final String peerId;
    private final Job job;

    Turn(String peerId, Job job) {
      this.peerId = peerId;
      this.job = job;
    }

    String peerId() {
      return peerId;
    }

    Job job() {
      return job;
    }

    @Override
    public void run() {
      runTurn(this);
    }

    /** Also abandons those who wait behind it. */
    void abandon() {
      List<Job> abandoned = new ArrayList<>(List.of(job));
      Queue<Job> behind = waiting.remove(peerId);
      if (behind != null) {
        abandoned.addAll(behind);
      }
      abandoned.forEach(Job::abandon);
    }
  }
}
