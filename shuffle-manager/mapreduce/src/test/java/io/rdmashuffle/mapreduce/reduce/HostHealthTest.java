package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class HostHealthTest {
  private static final String HOST = "node:13562";

  private final ManualClock clock = new ManualClock(Long.MAX_VALUE - 500_000_000L); // wraps soon
  private final HostHealth health =
      new HostHealth(clock, Duration.ofSeconds(1), Duration.ofSeconds(5));

  @Test
  void aHostThatFailedIsLeftAloneForAWhile() {
    assertThat(health.admits(HOST)).isTrue();
    health.failed(HOST, "connect-failed");
    assertThat(health.admits(HOST)).isFalse();
    assertThat(health.admits("other:13562")).isTrue();
    clock.advanceNs(999_999_999);
    assertThat(health.admits(HOST)).isFalse();
    clock.advanceNs(1);
    assertThat(health.admits(HOST)).isTrue();
  }

  @Test
  void theWhileDoublesUpToItsMaximum() {
    long[] seconds = {1, 2, 4, 5, 5};
    for (long expected : seconds) {
      health.failed(HOST, "connect-failed");
      clock.advanceNs(expected * 1_000_000_000 - 1);
      assertThat(health.admits(HOST)).isFalse();
      clock.advanceNs(1);
      assertThat(health.admits(HOST)).isTrue();
    }
  }

  @Test
  void successForgetsFailures() {
    health.failed(HOST, "one");
    health.failed(HOST, "two");
    clock.advanceNs(2_000_000_000L);
    health.worked(HOST);
    health.failed(HOST, "three");
    clock.advanceNs(1_000_000_000L);
    assertThat(health.admits(HOST)).isTrue();
  }

  @Test
  void corruptSegmentsInARowCountAsAFailure() {
    health.corrupt(HOST);
    health.corrupt(HOST);
    assertThat(health.admits(HOST)).isTrue();
    health.worked(HOST);
    health.corrupt(HOST);
    health.corrupt(HOST);
    assertThat(health.admits(HOST)).isTrue();
    health.corrupt(HOST);
    assertThat(health.admits(HOST)).isFalse();
  }
}
