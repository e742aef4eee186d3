package io.rdmashuffle.transport.channel;

import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;

/**
 * Tasks that any thread hands to one thread, in one order. Admission is bounded, what the
 * transport's own threads add is not: they never add more than they were asked for.
 *
 * <p><b>Threads:</b> {@link #offer} and {@link #add} any; the rest belongs to the consumer. A task
 * that was taken in before {@link #close} is still polled afterwards: none is lost in between.
 */
final class TaskQueue {
  private static final int CHUNK_TASKS = 256;

  private final MpscUnboundedAtomicArrayQueue<Runnable> tasks =
      new MpscUnboundedAtomicArrayQueue<>(CHUNK_TASKS);
  private final AtomicInteger producers = new AtomicInteger();
  private final int admissionLimit;
  private volatile boolean closed;

  /**
   * @param admissionLimit tasks waiting from which on {@link #offer} refuses; producers that race
   *     may exceed it by one each
   */
  TaskQueue(int admissionLimit) {
    this.admissionLimit = admissionLimit;
  }

  /** Returns false if too many wait, or the queue is closed. */
  boolean offer(Runnable task) {
    return tasks.size() < admissionLimit && add(task);
  }

  /** Returns false if the queue is closed. */
  boolean add(Runnable task) {
    producers.incrementAndGet();
    try {
      return !closed && tasks.offer(task);
    } finally {
      // Also the fence between the task and whatever the caller asks next, above all whether the
      // consumer sleeps.
      producers.decrementAndGet();
    }
  }

  /** Returns null if there is none. */
  Runnable poll() {
    return tasks.poll();
  }

  boolean isEmpty() {
    return tasks.isEmpty();
  }

  /** Lets nothing in any more. What is in is there to be polled when this returns. */
  void close() {
    closed = true;
    while (producers.get() != 0) {
      Thread.onSpinWait(); // a few instructions of another thread
    }
  }
}
