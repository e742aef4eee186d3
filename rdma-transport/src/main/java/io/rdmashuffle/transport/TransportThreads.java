package io.rdmashuffle.transport;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of a transport besides those of its channel layer: few, named, daemons, and gone when
 * there was nothing to do for a while. Their queues are bounded by what was admitted before.
 */
final class TransportThreads implements AutoCloseable {
  /** Registering and reading files waits for kernel and disk more than it computes. */
  static final int SLOW_THREADS = 4;

  private static final int COPY_THREADS = 2;
  private static final int DELIVERY_THREADS = 2;
  private static final long IDLE_S = 30;
  private static final long CLOSE_S = 5;
  private static final Logger LOG = LoggerFactory.getLogger(TransportThreads.class);

  private final String name;
  private final Set<Thread> threads = ConcurrentHashMap.newKeySet(); // ended ones until the next
  private final ThreadPoolExecutor slow;
  private final ThreadPoolExecutor copy;
  private final ThreadPoolExecutor delivery;

  TransportThreads(String name) {
    this.name = name;
    slow = pool("slow-work", SLOW_THREADS);
    copy = pool("copy", COPY_THREADS);
    delivery = pool("delivery", DELIVERY_THREADS);
  }

  private ThreadPoolExecutor pool(String role, int size) {
    AtomicInteger number = new AtomicInteger();
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            size,
            size,
            IDLE_S,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> thread(role + "-" + number.incrementAndGet(), task));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  private Thread thread(String role, Runnable task) {
    Thread thread = new Thread(task, "rdma-shuffle-" + role + "-" + name);
    thread.setDaemon(true);
    threads.removeIf(t -> t.getState() == Thread.State.TERMINATED);
    threads.add(thread);
    return thread;
  }

  /** Registers, reads files, starts discoveries. */
  Executor slow() {
    return slow;
  }

  /** Copies blocks out of registered memory, and does nothing else: nobody may wait for others. */
  Executor copy() {
    return copy;
  }

  /** Calls the engine's listeners. */
  Executor delivery() {
    return delivery;
  }

  int alive() {
    return (int) threads.stream().filter(Thread::isAlive).count();
  }

  /** Does what was asked for before, then ends. Idempotent. */
  @Override
  public void close() {
    List<ThreadPoolExecutor> pools = List.of(slow, copy, delivery);
    pools.forEach(ThreadPoolExecutor::shutdown);
    try {
      for (ThreadPoolExecutor pool : pools) {
        if (!pool.awaitTermination(CLOSE_S, TimeUnit.SECONDS)) {
          LOG.warn("[{}] threads still work after {} s: {}", name, CLOSE_S, pool);
        }
      }
      for (Thread thread : threads) { // a pool has terminated a moment before its last thread ends
        thread.join(TimeUnit.SECONDS.toMillis(1));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
