package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.DoublingPauses;
import io.rdmashuffle.transport.NanoClock;
import java.time.Duration;

/**
 * Remembers that the adapter or the kernel had no memory for a registration (ENOMEM): pauses them,
 * longer after each failure in a row, and for a while keeps below the bytes at which it failed, so
 * that the next one evicts first instead of failing again. Progress thread only.
 */
final class RegistrationBackoff {
  private static final DoublingPauses PAUSES =
      new DoublingPauses(Duration.ofMillis(100).toNanos(), Duration.ofSeconds(10).toNanos());
  private static final long LIMIT_HOLDS_NS = Duration.ofMinutes(1).toNanos();
  private final NanoClock clock;
  private int failuresInRow;
  private long failedNs;
  private long pauseNs;
  private long limitBytes = Long.MAX_VALUE;

  RegistrationBackoff(NanoClock clock) {
    this.clock = clock;
  }

  /**
   * @param registeredBytes what the cache held when there was no room for more
   */
  void onFailed(long registeredBytes) {
    limitBytes = registeredBytes;
    if (isPaused()) {
      return; // those already on their way fail together: one failure
    }
    failedNs = clock.nanoTime();
    failuresInRow++;
    pauseNs = PAUSES.afterNs(failuresInRow);
  }

  /**
   * @param registeredBytes what the cache holds now
   */
  void onSucceeded(long registeredBytes) {
    failuresInRow = 0;
    pauseNs = 0;
    limitBytes = Math.max(limitBytes, registeredBytes);
  }

  boolean isPaused() {
    return pauseNs > 0 && clock.nanoTime() - failedNs < pauseNs;
  }

  /** How much the cache should hold at most. */
  long limitBytes() {
    if (limitBytes != Long.MAX_VALUE && clock.nanoTime() - failedNs >= LIMIT_HOLDS_NS) {
      limitBytes = Long.MAX_VALUE;
    }
    return limitBytes;
  }
}
