package io.rdmashuffle.spark;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.rdmashuffle.spark.runtime.Availability;
import io.rdmashuffle.spark.runtime.EngineCounters;
import io.rdmashuffle.spark.runtime.ShuffleRuntime;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.FallbackReason;
import org.apache.spark.metrics.source.Source;

/**
 * The shuffle's numbers in Spark's metrics system, under {@code RdmaShuffle}: what came by RDMA and
 * how, what came through Spark's own shuffle and why, and what is registered and connected now.
 */
final class RdmaMetricsSource implements Source {
  private final MetricRegistry registry = new MetricRegistry();

  /** Made once the runtime has opened the transport, or found that it cannot. */
  RdmaMetricsSource(ShuffleRuntime runtime) {
    addEngine(runtime.engineCounters());
    gauge("outputs.catalogued", () -> (long) runtime.outputs());
    if (runtime.state() instanceof Availability.Open open) {
      addTransport(open.transport().counters());
      for (String level : open.transport().levels().keySet()) {
        gauge(level, () -> open.transport().levels().getOrDefault(level, 0L));
      }
    }
  }

  private void addEngine(EngineCounters counters) {
    gauge("blocks.engine", counters::totalBlocks);
    gauge("bytes.engine", counters::totalBytes);
    gauge("blocks.failed", counters::failedBlocks);
    for (FallbackReason reason : FallbackReason.values()) {
      gauge("fallback." + reason.label() + ".blocks", () -> counters.blocks(reason));
      gauge("fallback." + reason.label() + ".bytes", () -> counters.bytes(reason));
    }
  }

  private void addTransport(Counters counters) {
    for (Counter counter : Counter.values()) {
      gauge(counter.label(), () -> counters.value(counter));
    }
    registry.register("read.latency.ns", new ReadLatency(counters.readLatency()));
  }

  private void gauge(String name, Gauge<Long> value) {
    registry.register(name, value);
  }

  @Override
  public String sourceName() {
    return "RdmaShuffle";
  }

  @Override
  public MetricRegistry metricRegistry() {
    return registry;
  }
}
