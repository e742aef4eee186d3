package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.ManualClock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class RegistrationBackoffTest {
  private final ManualClock clock = new ManualClock();
  private final RegistrationBackoff backoff = new RegistrationBackoff(clock);

  private void advance(Duration time) {
    clock.advanceNs(time.toNanos());
  }

  @Test
  void pausesLongerAfterEachFailureInARow() {
    assertThat(backoff.isPaused()).isFalse();
    backoff.onFailed(1000);
    assertThat(backoff.isPaused()).isTrue();
    advance(Duration.ofMillis(100));
    assertThat(backoff.isPaused()).isFalse();

    backoff.onFailed(1000);
    advance(Duration.ofMillis(199));
    assertThat(backoff.isPaused()).isTrue();
    advance(Duration.ofMillis(1));
    assertThat(backoff.isPaused()).isFalse();
  }

  @Test
  void failuresThatCameTogetherCountOnce() {
    backoff.onFailed(1000);
    backoff.onFailed(900);
    backoff.onFailed(800);
    advance(Duration.ofMillis(100));
    assertThat(backoff.isPaused()).isFalse();
    assertThat(backoff.limitBytes()).isEqualTo(800);
  }

  @Test
  void neverPausesLongerThanTenSeconds() {
    for (int i = 0; i < 80; i++) {
      backoff.onFailed(1000);
      advance(Duration.ofSeconds(10));
      assertThat(backoff.isPaused()).isFalse();
    }
  }

  @Test
  void aSuccessEndsThePauseAndRaisesTheLimit() {
    backoff.onFailed(1000);
    backoff.onSucceeded(1500);
    assertThat(backoff.isPaused()).isFalse();
    assertThat(backoff.limitBytes()).isEqualTo(1500);
  }

  @Test
  void theLimitIsForgottenAfterAMinute() {
    backoff.onFailed(1000);
    advance(Duration.ofSeconds(59));
    assertThat(backoff.limitBytes()).isEqualTo(1000);
    advance(Duration.ofSeconds(1));
    assertThat(backoff.limitBytes()).isEqualTo(Long.MAX_VALUE);
  }
}
