package io.rdmashuffle.transport.handover;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A fixed number of threads that do what comes, in its order. All of them are made when the pool is
 * opened, none later, and whatever work throws, they live until the pool is closed: what was handed
 * over is done or, once the pool is closed, abandoned.
 *
 * <p><b>Threads:</b> any; {@link #close} waits. <b>Ownership:</b> the opener closes it.
 */
public final class WorkerPool implements Workers, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  private final Gate gate;
  private final WorkQueue queue = new WorkQueue();
  private final Object consumers = new Object(); // of the queue: only threads of this pool meet
  private final Worker[] workers;
  private final RejectedExecutionException closedRefusal;
  private volatile Consumer<Throwable> bugs = WorkerPool::log;
  private volatile boolean closed;

  private WorkerPool(Threads threads, String role, int size) {
    this.gate = threads.gate();
    this.closedRefusal = new RejectedExecutionException("the threads of " + role + " have ended");
    this.workers = new Worker[size];
    for (int i = 0; i < size; i++) {
      workers[i] = new Worker();
    }
  }

  /**
   * Makes the threads.
   *
   * @param role for their names
   * @throws TransportException if there are not enough threads; none is left then
   */
  public static WorkerPool open(Threads threads, String role, int size) throws TransportException {
    WorkerPool pool = new WorkerPool(threads, role, size);
    boolean complete = false;
    try {
      for (int i = 0; i < size; i++) {
        String name = size == 1 ? role : role + "-" + (i + 1);
        pool.workers[i].thread = threads.start(name, pool.workers[i]);
      }
      complete = true;
      return pool;
    } finally {
      if (!complete) {
        pool.close();
      }
    }
  }

  /**
   * Each Error or exception that work let through is told to somebody who makes good for it,
   * instead of being logged.
   *
   * @param listener called on the pool's threads
   */
  public void reportTo(Consumer<Throwable> listener) {
    bugs = listener;
  }

  private static void log(Throwable bug) {
    LOG.error("work let an exception through; its thread goes on", bug);
  }

  @Override
  public void execute(Work work) {
    Throwable refusal = passGate();
    if (refusal == null && !queue.push(work)) {
      refusal = closedRefusal;
    }
    if (refusal == null) {
      wakeOne();
    } else {
      work.abandon(refusal);
    }
  }

  /** With one wake-up for all of it: one thread begins, and others help it when they are free. */
  @Override
  public void executeAll(WorkChain chain) {
    if (chain.isEmpty()) {
      return;
    }
    Throwable refusal = passGate();
    if (refusal == null && chain.pushTo(queue)) {
      wakeOne();
    } else {
      chain.abandonAll(refusal == null ? closedRefusal : refusal);
    }
  }

  private Throwable passGate() {
    try {
      gate.pass();
      return null;
    } catch (Throwable shortage) {
      return shortage;
    }
  }

  private void wakeOne() {
    for (Worker worker : workers) {
      if (worker.idle.get() && worker.idle.compareAndSet(true, false)) {
        LockSupport.unpark(worker.thread);
        return;
      }
    }
  }

  private Work poll() {
    synchronized (consumers) { // a few instructions, among the threads of this pool only
      return queue.poll();
    }
  }

  private boolean isEmpty() {
    synchronized (consumers) { // as above
      return queue.isEmpty();
    }
  }

  /** Does what was handed over before, then ends the threads. Idempotent. Waits with a deadline. */
  @Override
  public void close() {
    close(CLOSE_TIMEOUT);
  }

  /**
   * As {@link #close()}.
   *
   * @param timeout after which it goes on without
   */
  public void close(Duration timeout) {
    refuseMore();
    awaitEnd(timeout);
  }

  /**
   * Abandons what has not begun, interrupts what has, and waits for that. Idempotent.
   *
   * @param timeout after which it goes on without
   */
  public void stop(Duration timeout) {
    refuseMore();
    abandonWaiting();
    for (Worker worker : workers) {
      if (worker.thread != null) {
        worker.thread.interrupt();
      }
    }
    awaitEnd(timeout);
  }

  private void refuseMore() {
    synchronized (consumers) { // as above
      queue.close();
    }
    closed = true;
    for (Worker worker : workers) {
      LockSupport.unpark(worker.thread);
    }
  }

  private void awaitEnd(Duration timeout) {
    long deadlineNs = NanoClock.system().nanoTime() + timeout.toNanos();
    for (Worker worker : workers) {
      long leftNs = deadlineNs - NanoClock.system().nanoTime();
      if (worker.thread != null && !Threads.join(worker.thread, leftNs)) {
        LOG.warn("{} still works after {}", worker.thread.getName(), timeout);
      }
    }
    abandonWaiting();
  }

  /** How many of its threads live. */
  public int alive() {
    return (int) Arrays.stream(workers).filter(w -> w.thread != null && w.thread.isAlive()).count();
  }

  private void abandonWaiting() {
    for (Work work = poll(); work != null; work = poll()) {
      work.abandon(closedRefusal);
    }
  }

  private void report(Throwable bug) {
    try {
      bugs.accept(bug);
    } catch (Throwable noMemory) {
      // allow(swallow): there is none to tell it with, and the thread has to go on
      Thread.onSpinWait();
    }
  }

  /** One thread of the pool. */
  private final class Worker implements Runnable {
    private final AtomicBoolean idle = new AtomicBoolean();
    private Thread thread;

    @Override
    public void run() {
      while (true) {
        Work work = poll();
        if (work != null) {
          Throwable bug = work.perform();
          if (bug != null) {
            report(bug);
          }
        } else if (closed) {
          return;
        } else {
          awaitWork();
        }
      }
    }

    /** Says that it sleeps before it looks for the last time; others push before they ask. */
    private void awaitWork() {
      idle.set(true);
      if (isEmpty() && !closed) {
        LockSupport.park(WorkerPool.this);
      }
      idle.set(false);
      boolean unused = Thread.interrupted(); // of the work before
    }
  }
}
