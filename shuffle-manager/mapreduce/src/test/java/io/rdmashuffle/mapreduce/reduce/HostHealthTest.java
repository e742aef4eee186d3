package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.testing.ManualClock;
import java.time.Duration;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

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

  /** The transport's pauses last up to a quarter longer. */
  @Test
  void waitingForTheTransportsPauseToEndIsNoFurtherFailure() {
    health.leftByTransport(HOST, FallbackReason.CONNECT_FAILED);
    clock.advanceNs(1_000_000_000);
    assertThat(health.admits(HOST)).isTrue();
    health.leftByTransport(HOST, FallbackReason.BREAKER_OPEN);
    assertThat(health.admits(HOST)).isFalse();
    clock.advanceNs(250_000_000);
    assertThat(health.admits(HOST)).isTrue();

    health.leftByTransport(HOST, FallbackReason.CONNECT_FAILED);
    clock.advanceNs(2_000_000_000 - 1);
    assertThat(health.admits(HOST)).as("the second failure in a row").isFalse();
    clock.advanceNs(1);
    assertThat(health.admits(HOST)).isTrue();
  }

  /** Hadoop sends the loggers of its own package to syslog.shuffle. */
  @Test
  void ownDecisionsAreToldAmongHadoopsLinesAndThoseOfTheTransportAreNotRepeated() {
    LogCapturer log =
        LogCapturer.captureLogs(LoggerFactory.getLogger("org.apache.hadoop.mapreduce.task.reduce"));
    try {
      health.leftByTransport(HOST, FallbackReason.CONNECT_FAILED);
      health.failed(HOST, "it delivered nothing");
    } finally {
      log.stopCapturing();
    }
    assertThat(log.getOutput().lines().filter(line -> !line.contains(" DEBUG ")))
        .singleElement()
        .asString()
        .contains("[node:13562] serves map outputs by HTTP for 2000 ms: it delivered nothing");
  }
}
