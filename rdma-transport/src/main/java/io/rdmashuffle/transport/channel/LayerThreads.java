package io.rdmashuffle.transport.channel;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of a channel layer: daemons, each named. One owner, who closes it. */
final class LayerThreads implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LayerThreads.class);
  private static final int SLOW_THREADS = 2;
  private static final long JOIN_NS = TimeUnit.SECONDS.toNanos(5);

  private final String name;
  private final ExecutorService slowPool;
  private final Queue<Thread> slowThreads = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private ChannelCore core;

  LayerThreads(String name) {
    this.name = name;
    AtomicInteger number = new AtomicInteger();
    slowPool =
        Executors.newFixedThreadPool(
            SLOW_THREADS,
            task -> {
              Thread thread = thread("slow-" + number.incrementAndGet(), task);
              slowThreads.add(thread);
              return thread;
            });
  }

  /** What a task throws is logged as a bug. Once closed it refuses tasks. */
  Executor slowPool() {
    return task -> slowPool.execute(() -> runGuarded(task));
  }

  private static void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable bug) {
      LOG.error("a task of the slow pool threw; the pool goes on", bug);
    }
  }

  void start(ChannelCore startedCore) {
    core = startedCore;
    threads.add(thread("cm", core.cm()));
    threads.add(thread("progress", core.loop()));
    threads.forEach(Thread::start);
  }

  private Thread thread(String role, Runnable task) {
    Thread thread = new Thread(task, "rdma-shuffle-" + role + "-" + name);
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void close() {
    end();
  }

  /**
   * The CM thread first, for it feeds the slow pool, then that, for it feeds the loop.
   *
   * @return false if one of them is still alive, which has been logged
   */
  boolean end() {
    boolean ended = true;
    if (core != null) {
      core.cm().stop();
      ended = join(threads.get(0));
    }
    slowPool.shutdown(); // what was handed in still runs
    for (Thread thread : slowThreads) {
      ended &= join(thread);
    }
    if (core != null) {
      core.loop().stop();
      ended &= join(threads.get(1));
    }
    return ended;
  }

  private static boolean join(Thread thread) {
    boolean ended =
        Uninterrupted.await(
            ns -> {
              thread.join(1 + TimeUnit.NANOSECONDS.toMillis(ns)); // 0 would be for ever
              return !thread.isAlive();
            },
            JOIN_NS);
    if (!ended) {
      LOG.error("{} has not ended in time", thread.getName());
    }
    return ended;
  }
}
