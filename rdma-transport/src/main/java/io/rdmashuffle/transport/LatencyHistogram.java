package io.rdmashuffle.transport;

import java.util.ArrayList;
import java.util.List;
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
    return buckets().stream().mapToLong(Bucket::count).sum();
  }

  /** Those in which anything was recorded, shortest first. */
  public List<Bucket> buckets() {
    List<Bucket> filled = new ArrayList<>();
    for (int i = 0; i < BUCKETS; i++) {
      long count = counts.get(i);
      if (count > 0) {
        filled.add(new Bucket(1L << (i + 1), count));
      }
    }
    return filled;
  }

  /**
   * The upper bound of the bucket in which the quantile lies, 0 if nothing was recorded.
   *
   * @param quantile 0.5 for the median
   */
  public long quantileNs(double quantile) {
    List<Bucket> filled = buckets();
    long left = (long) Math.ceil(quantile * filled.stream().mapToLong(Bucket::count).sum());
    for (Bucket bucket : filled) {
      left -= bucket.count();
      if (left <= 0) {
        return bucket.upToNs();
      }
    }
    return 0;
  }

  /**
   * Durations of about the same length.
   *
   * @param upToNs they are shorter than this and at least half of it
   * @param count how many
   */
  public record Bucket(long upToNs, long count) {}
}
