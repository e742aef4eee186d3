package io.rdmashuffle.transport;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts durations in buckets of powers of two nanoseconds: coarse, of fixed size, without locks or
 * allocation. Any thread.
 */
public final class LatencyHistogram {
  private static final int BUCKETS = 48; // the last one starts at 39 hours
  private final AtomicLongArray counts = new AtomicLongArray(BUCKETS);

  public void record(long durationNs) {
    int bucket = 64 - Long.numberOfLeadingZeros(Math.max(durationNs, 1)) - 1;
    counts.incrementAndGet(Math.min(bucket, BUCKETS - 1));
  }

  public long count() {
    long sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
      sum += counts.get(i);
    }
    return sum;
  }

  /**
   * The upper bound of the bucket in which the quantile lies, 0 if nothing was recorded.
   *
   * @param quantile 0.5 for the median
   */
  public long quantileNs(double quantile) {
    long rank = (long) Math.ceil(quantile * count());
    long seen = 0;
    for (int i = 0; i < BUCKETS && rank > 0; i++) {
      seen += counts.get(i);
      if (seen >= rank) {
        return 1L << (i + 1);
      }
    }
    return 0;
  }
}
