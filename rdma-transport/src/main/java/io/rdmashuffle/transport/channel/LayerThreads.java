package io.rdmashuffle.transport.channel;

import java.util.ArrayList;
import java.util.List;
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
  private static final long JOIN_MS = 5_000;

  private final String name;
  private final ExecutorService slowPool;
  private final List<Thread> threads = new ArrayList<>();
  private ChannelCore core;

  LayerThreads(String name) {
    this.name = name;
    AtomicInteger number = new AtomicInteger();
    slowPool =
        Executors.newFixedThreadPool(
            SLOW_THREADS, task -> thread("slow-" + number.incrementAndGet(), task));
  }

  Executor slowPool() {
    return slowPool;
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

  /** The CM thread first, for it feeds the slow pool, then that, for it feeds the loop. */
  @Override
  public void close() {
    if (core != null) {
      core.cm().stop();
      join(threads.get(0));
    }
    slowPool.shutdown();
    awaitSlowPool();
    if (core != null) {
      core.loop().stop();
      join(threads.get(1));
    }
  }

  private void awaitSlowPool() {
    try {
      if (!slowPool.awaitTermination(JOIN_MS, TimeUnit.MILLISECONDS)) {
        LOG.error("the slow pool of {} has not ended after {} ms", name, JOIN_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join(JOIN_MS);
      if (thread.isAlive()) {
        LOG.error("{} has not ended after {} ms", thread.getName(), JOIN_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
