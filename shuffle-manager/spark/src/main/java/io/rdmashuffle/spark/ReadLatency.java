package io.rdmashuffle.spark;

import com.codahale.metrics.Histogram;
import com.codahale.metrics.Reservoir;
import com.codahale.metrics.Snapshot;
import com.codahale.metrics.WeightedSnapshot;
import com.codahale.metrics.WeightedSnapshot.WeightedSample;
import io.rdmashuffle.transport.LatencyHistogram;
import java.util.ArrayList;
import java.util.List;

/**
 * How long READs took, as the histogram that Spark's metric sinks know: nanoseconds, since the
 * start of the process, in steps of powers of two. Read only; the transport does the counting. Any
 * thread.
 */
final class ReadLatency extends Histogram {
  private final LatencyHistogram counts;

  ReadLatency(LatencyHistogram counts) {
    super(new Buckets(counts));
    this.counts = counts;
  }

  @Override
  public long getCount() {
    return counts.count();
  }

  /** One weighted sample per bucket. */
  private record Buckets(LatencyHistogram counts) implements Reservoir {
    @Override
    public int size() {
      return (int) Math.min(counts.count(), Integer.MAX_VALUE);
    }

    @Override
    public void update(long value) {
      throw new UnsupportedOperationException("the transport counts READs itself");
    }

    @Override
    public Snapshot getSnapshot() {
      List<WeightedSample> samples = new ArrayList<>();
      for (LatencyHistogram.Bucket bucket : counts.buckets()) {
        samples.add(new WeightedSample(bucket.upToNs(), bucket.count()));
      }
      return new WeightedSnapshot(samples);
    }
  }
}
