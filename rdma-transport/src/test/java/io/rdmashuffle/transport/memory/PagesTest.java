package io.rdmashuffle.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PagesTest {
  @ParameterizedTest
  @ValueSource(ints = {4096, 65536})
  void alignsToWholePages(int pageBytes) {
    Pages pages = new Pages(pageBytes);
    assertThat(pages.down(0)).isZero();
    assertThat(pages.up(0)).isZero();
    assertThat(pages.down(pageBytes - 1)).isZero();
    assertThat(pages.up(1)).isEqualTo(pageBytes);
    assertThat(pages.up(pageBytes)).isEqualTo(pageBytes);
    assertThat(pages.up(pageBytes + 1)).isEqualTo(2L * pageBytes);
    assertThat(pages.down(10L * pageBytes + 5)).isEqualTo(10L * pageBytes);
    assertThat(pages.isAligned(3L * pageBytes)).isTrue();
    assertThat(pages.isAligned(3L * pageBytes + 1)).isFalse();
  }

  @Test
  void worksBeyondTwoGigabytes() {
    assertThat(new Pages(4096).down((5L << 30) + 7)).isEqualTo(5L << 30);
    assertThat(new Pages(4096).up((5L << 30) + 7)).isEqualTo((5L << 30) + 4096);
  }

  @Test
  void refusesNonsense() {
    assertThatThrownBy(() -> new Pages(5000)).hasMessageContaining("5000");
    assertThatThrownBy(() -> new Pages(4096).up(Long.MAX_VALUE))
        .isInstanceOf(ArithmeticException.class);
  }
}
