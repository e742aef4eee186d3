package io.rdmashuffle.transport.client;

import java.util.random.RandomGenerator;

/**
 * How long something that failed is left alone: a minimum, doubled with each failure in a row up to
 * a maximum, plus up to a quarter at random so that peers do not come back together. Progress
 * thread only.
 */
final class Backoff {
  private final long minimumNs;
  private final long maximumNs;
  private final RandomGenerator random;
  private int failures;

  Backoff(long minimumNs, long maximumNs, RandomGenerator random) {
    this.minimumNs = Math.max(1, minimumNs);
    this.maximumNs = Math.max(this.minimumNs, maximumNs);
    this.random = random;
  }

  /** Counts a failure; returns the time to leave it alone. */
  long failed() {
    long delayNs = minimumNs;
    for (int i = 0; i < failures && delayNs < maximumNs; i++) {
      delayNs *= 2;
    }
    failures++;
    delayNs = Math.min(delayNs, maximumNs);
    return delayNs + random.nextLong(delayNs / 4 + 1);
  }

  void succeeded() {
    failures = 0;
  }

  boolean hasFailed() {
    return failures > 0;
  }
}
