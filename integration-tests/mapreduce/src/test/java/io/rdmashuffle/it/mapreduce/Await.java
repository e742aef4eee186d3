package io.rdmashuffle.it.mapreduce;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waits for what happens soon. */
final class Await {
  private Await() {}

  /**
   * @param what what is left to do; done when it is empty
   */
  static void empty(Duration limit, Supplier<? extends Map<?, ?>> what) {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    while (true) {
      Map<?, ?> left = what.get();
      if (left.isEmpty()) {
        return;
      }
      if (System.nanoTime() - deadlineNs > 0) {
        throw new AssertionError("after " + limit.toSeconds() + " s there is still " + left);
      }
      LockSupport.parkNanos(20_000_000);
    }
  }
}
