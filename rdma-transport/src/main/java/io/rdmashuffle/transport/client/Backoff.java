package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.DoublingPauses;
import java.util.random.RandomGenerator;

/**
 * How long something that failed is left alone: a minimum, doubled with each failure in a row up to
 * a maximum, plus up to a quarter at random so that peers do not come back together. Progress
 * thread only.
 */
final class Backoff {
  private final DoublingPauses pauses;
  private final RandomGenerator random;
  private int failures;

  Backoff(long minimumNs, long maximumNs, RandomGenerator random) {
    long shortestNs = Math.max(1, minimumNs);
    this.pauses = new DoublingPauses(shortestNs, Math.max(shortestNs, maximumNs));
    this.random = random;
  }

  /** Counts a failure; returns the time to leave it alone. */
  long failed() {
    failures++;
    long delayNs = pauses.afterNs(failures);
    return delayNs + random.nextLong(delayNs / 4 + 1);
  }

  void succeeded() {
    failures = 0;
  }

  boolean hasFailed() {
    return failures > 0;
  }
}
