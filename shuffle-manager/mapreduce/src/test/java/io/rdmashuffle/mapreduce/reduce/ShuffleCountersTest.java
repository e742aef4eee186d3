package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.rdmashuffle.transport.FallbackReason;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class ShuffleCountersTest {
  private final Map<String, Long> counted = new TreeMap<>();
  private final ShuffleCounters counters =
      new ShuffleCounters((name, n) -> counted.merge(name, n, Long::sum));

  @Test
  void aHostCountsOnceAndOncePerReason() {
    counters.hostFellBack("a", FallbackReason.CONNECT_FAILED);
    counters.hostFellBack("a", FallbackReason.CONNECT_FAILED);
    counters.hostFellBack("a", FallbackReason.BREAKER_OPEN);
    counters.hostFellBack("b", FallbackReason.CONNECT_FAILED);
    assertThat(counted)
        .isEqualTo(
            Map.of(
                "HOSTS_FALLEN_BACK", 2L,
                "HOSTS_FALLEN_BACK.connect-failed", 2L,
                "HOSTS_FALLEN_BACK.breaker-open", 1L));
  }

  @Test
  void whatDidNotComeByRdmaCameByHttp() {
    counters.finish(10, 5000);
    assertThat(counted).isEqualTo(Map.of("SEGMENTS_HTTP", 10L, "BYTES_HTTP", 5000L));
  }

  @Test
  void countersThatHadoopRefusesAreNotCounted() {
    ShuffleCounters full =
        new ShuffleCounters(
            (name, n) -> {
              throw new IllegalStateException("Too many counters: 121 max=120");
            });
    assertThatCode(
            () -> {
              full.taskWithoutRdma();
              full.finish(1, 1);
            })
        .doesNotThrowAnyException();
  }
}
