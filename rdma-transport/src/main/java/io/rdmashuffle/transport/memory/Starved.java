package io.rdmashuffle.transport.memory;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Whether somebody left a pool empty-handed, and who is told when there are chunks again. Any
 * thread.
 */
final class Starved {
  private final AtomicBoolean somebody = new AtomicBoolean();
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  void onAvailable(Runnable listener) {
    listeners.add(listener);
  }

  void note() {
    somebody.set(true);
  }

  /** Tells everybody, if somebody was noted since the last time. */
  void wake() {
    if (somebody.compareAndSet(true, false)) {
      listeners.forEach(Runnable::run);
    }
  }
}
