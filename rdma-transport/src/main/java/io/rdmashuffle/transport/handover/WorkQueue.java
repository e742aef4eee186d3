package io.rdmashuffle.transport.handover;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Work that any thread hands to one consumer, in one order. Producers push onto a stack by one
 * compare-and-set; the consumer takes all of it at a time and turns it around. Nothing is allocated
 * and nobody waits for anybody.
 *
 * <p><b>Threads:</b> {@link #push} any. The rest belongs to the consumer: one thread, or several
 * that exclude each other.
 */
public final class WorkQueue {
  /** Stands on the stack once the queue is closed, and stays there. */
  private static final Work CLOSED =
      Work.of(
          () -> {
            throw new AssertionError("not work");
          });

  private final AtomicReference<Work> newest = new AtomicReference<>();
  private Work oldestTaken;
  private Work newestTaken;

  /** Returns false if the queue is closed: the work is still the caller's. */
  public boolean push(Work work) {
    return push(work, work);
  }

  /**
   * Pushes several at once.
   *
   * @param first the one handed over last, linked by {@link Work#next} to those before it
   * @param last the one handed over first
   */
  boolean push(Work first, Work last) {
    while (true) {
      Work head = newest.get();
      if (head == CLOSED) {
        return false;
      }
      last.next = head;
      first.depth = head == null ? 1 : head.depth + 1;
      if (newest.compareAndSet(head, first)) {
        return true;
      }
    }
  }

  /** About how many were pushed since the consumer last took some. Any thread. */
  public int depth() {
    Work head = newest.get();
    return head == null ? 0 : head.depth;
  }

  /** Returns null if there is none. */
  public Work poll() {
    if (oldestTaken == null) {
      take(null);
    }
    Work work = oldestTaken;
    if (work != null) {
      oldestTaken = work.next;
      work.next = null;
    }
    return work;
  }

  /** Whether {@link #poll} would find none. */
  public boolean isEmpty() {
    Work head = newest.get();
    return oldestTaken == null && (head == null || head == CLOSED);
  }

  /** Lets nothing in any more. What is in is there to be polled. Idempotent. */
  public void close() {
    take(CLOSED);
  }

  /** Moves the stack, turned around, behind what was taken before. */
  private void take(Work successor) {
    Work head;
    do {
      head = newest.get();
      if (head == CLOSED || head == successor) {
        return;
      }
    } while (!newest.compareAndSet(head, successor));
    if (head == null) {
      return;
    }
    Work turned = WorkChain.turnAround(head);
    if (oldestTaken == null) {
      oldestTaken = turned;
    } else {
      newestTaken.next = turned;
    }
    newestTaken = head;
  }
}
