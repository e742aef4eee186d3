package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpinTest {
  private final Spin spin = new Spin(1000);

  @Test
  void looksUpToTheLimit() {
    assertThat(spin.looksOn(0)).isTrue();
    assertThat(spin.looksOn(999)).isTrue();
    assertThat(spin.looksOn(1000)).isFalse();
  }

  @Test
  void sleepsAtOnceAfterLookingInVain() {
    spin.missed();
    assertThat(spin.looksOn(0)).isFalse();
  }

  @Test
  void triesAgainNowAndThen() {
    spin.missed();
    int sleeps = 0;
    while (!spin.looksOn(0)) {
      spin.missed();
      sleeps++;
    }
    assertThat(sleeps).isEqualTo(64);
  }

  @Test
  void looksAsLongAsItPays() {
    spin.missed();
    spin.paid();
    assertThat(spin.looksOn(0)).isTrue();
  }

  @Test
  void aLimitOfZeroNeverLooks() {
    assertThat(new Spin(0).looksOn(0)).isFalse();
  }
}
