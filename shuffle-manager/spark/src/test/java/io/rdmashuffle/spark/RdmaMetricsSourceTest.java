package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.Histogram;
import com.codahale.metrics.MetricRegistry;
import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import io.rdmashuffle.spark.runtime.FallbackPolicy;
import io.rdmashuffle.spark.runtime.ShuffleRuntime;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class RdmaMetricsSourceTest {
  private final ScriptedTransport transport = new ScriptedTransport();

  private ShuffleRuntime runtime(Mode mode) {
    ShuffleRuntime runtime =
        new ShuffleRuntime(
            new FallbackPolicy(mode, "mode", Optional.empty()),
            new MapOutputCatalog((group, output) -> null),
            rules -> new AdapterLifecycle<>(rules, () -> transport));
    runtime.open();
    return runtime;
  }

  private static Object value(MetricRegistry registry, String name) {
    return registry.getGauges().get(name).getValue();
  }

  @Test
  void everyCounterReasonAndLevelIsShownAsItIsNow() {
    try (ShuffleRuntime runtime = runtime(Mode.AUTO)) {
      MetricRegistry registry = new RdmaMetricsSource(runtime).metricRegistry();
      transport.counters().add(Counter.BYTES_STAGED, 77);
      transport.counters().readLatency().record(1000);
      runtime.engineCounters().delivered(FallbackReason.TO_DISK, 5);
      assertThat(value(registry, "bytes.staged")).isEqualTo(77L);
      assertThat(value(registry, "fallback.to-disk.bytes")).isEqualTo(5L);
      assertThat(value(registry, "bytes.engine")).isEqualTo(5L);
      assertThat(value(registry, "bytes.registered")).isEqualTo(4096L);
      transport.counters().readLatency().record(5000);
      Histogram latency = registry.getHistograms().get("read.latency.ns");
      assertThat(latency.getCount()).isEqualTo(2);
      assertThat(latency.getSnapshot().getMin()).isEqualTo(1024L);
      assertThat(latency.getSnapshot().get99thPercentile()).isEqualTo(8192.0);
      for (Counter counter : Counter.values()) {
        assertThat(registry.getGauges()).containsKey(counter.label());
      }
    }
  }

  @Test
  void processWithoutRdmaShowsWhatTheEngineDelivered() {
    try (ShuffleRuntime runtime = runtime(Mode.OFF)) {
      MetricRegistry registry = new RdmaMetricsSource(runtime).metricRegistry();
      runtime.engineCounters().delivered(FallbackReason.NO_DEVICE, 5);
      assertThat(value(registry, "fallback.no-device.blocks")).isEqualTo(1L);
      assertThat(registry.getGauges()).doesNotContainKey("bytes.read");
    }
  }
}
