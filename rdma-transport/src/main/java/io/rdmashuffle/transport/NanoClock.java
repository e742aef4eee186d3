package io.rdmashuffle.transport;

/**
 * Monotonic time in nanoseconds, as {@link System#nanoTime()} gives it. Injected everywhere, so
 * that tests own it. Any thread.
 */
@FunctionalInterface
public interface NanoClock {
  long nanoTime();

  /** The host's clock. */
  static NanoClock system() {
    return System::nanoTime;
  }
}
