package io.rdmashuffle.transport.client;

import java.util.ArrayDeque;
import java.util.Deque;

/** Bounds how many connections are made at a time. Progress thread only. */
final class DialGate {
  /** More would only compete: each costs the owner a queue pair and a handshake. */
  static final int DIALS = 16;

  private final Deque<Runnable> queue = new ArrayDeque<>();
  private int dialling;

  /** Runs {@code dial} now or when its turn comes; whoever ran calls {@link #leave} afterwards. */
  void enter(Runnable dial) {
    if (dialling < DIALS) {
      dialling++;
      dial.run();
    } else {
      queue.add(dial);
    }
  }

  /** Gives up the place in the queue. */
  void cancel(Runnable dial) {
    queue.remove(dial);
  }

  /** A dial has ended: the next may begin. */
  void leave() {
    dialling--;
    Runnable next = queue.poll();
    if (next != null) {
      dialling++;
      next.run();
    }
  }
}
