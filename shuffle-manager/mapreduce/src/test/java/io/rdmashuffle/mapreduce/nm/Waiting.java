package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what other threads do. */
public final class Waiting {
  private static final Duration LONGEST = Duration.ofSeconds(20);
  private static final long PAUSE_NS = 2_000_000;

  private Waiting() {}

  public static void until(BooleanSupplier condition) {
    long deadline = System.nanoTime() + LONGEST.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("in time").isLessThan(deadline);
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** No thread of a transport or of a NodeManager's server is left. */
  static void untilThreadsAreGone() {
    until(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("rdma-shuffle-")));
  }
}
