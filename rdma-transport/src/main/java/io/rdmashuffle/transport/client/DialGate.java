package io.rdmashuffle.transport.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

/** Bounds how many connections are made at a time. Progress thread only. */
final class DialGate {
  /** More would only compete: each costs the owner a queue pair and a handshake. */
  static final int DIALS = 16;

  private final Deque<Consumer<Place>> queue = new ArrayDeque<>();
  private int dialling;
  private boolean admitting;

  /** Lets {@code dial} in now or when its turn comes; it gives its place back when it has ended. */
  void enter(Consumer<Place> dial) {
    queue.add(dial);
    admit();
  }

  /** Gives up the turn. */
  void cancel(Consumer<Place> dial) {
    queue.remove(dial);
  }

  /** Those that end while they are let in make room in this loop, not deeper in the stack. */
  private void admit() {
    if (admitting) {
      return;
    }
    admitting = true;
    try {
      while (dialling < DIALS && !queue.isEmpty()) {
        letIn(queue.poll());
      }
    } finally {
      admitting = false;
    }
  }

  private void letIn(Consumer<Place> dial) {
    Place place = new Place();
    try {
      dial.accept(place);
    } catch (RuntimeException | Error e) {
      place.close();
      throw e;
    }
  }

  /** One of the places. */
  final class Place implements AutoCloseable {
    private boolean given;

    private Place() {
      dialling++;
    }

    /** Idempotent. The next may begin. */
    @Override
    public void close() {
      if (!given) {
        given = true;
        dialling--;
        admit();
      }
    }
  }
}
