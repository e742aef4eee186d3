package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SlotDemandTest {
  private final SlotDemand demand = new SlotDemand();

  @Test
  void addsUpAndSpreads() {
    demand.add(1, 1000, 11_000, 0);
    demand.add(1, 20_000, 25_000, 0);
    assertThat(demand.bytes(1)).isEqualTo(15_000);
    assertThat(demand.spreadBytes(1)).isEqualTo(24_000);
    assertThat(demand.bytes(0)).isZero();
    assertThat(demand.spreadBytes(2)).isZero();
  }

  @Test
  void askingAgainAddsUpButSpreadsNoFurther() {
    demand.add(0, 0, 5000, 0);
    demand.add(0, 0, 5000, 0);
    assertThat(demand.bytes(0)).isEqualTo(10_000);
    assertThat(demand.spreadBytes(0)).isEqualTo(5000);
  }

  @Test
  void aTinyBlockCountsForAPage() {
    demand.add(0, 10, 11, 0);
    assertThat(demand.bytes(0)).isEqualTo(4096);
    assertThat(demand.spreadBytes(0)).isEqualTo(1);
  }

  @Test
  void halvesWithEachEpochAndIsForgottenInTheEnd() {
    demand.add(0, 0, 80_000, 0);
    demand.add(1, 0, 10_000, 3);
    assertThat(demand.bytes(0)).isEqualTo(10_000);
    demand.add(1, 0, 10_000, 1000);
    assertThat(demand.bytes(0)).isZero();
    assertThat(demand.spreadBytes(0)).isZero();
  }

  @Test
  void aPartOfTheSlotHasItsShareOfWhatWasAskedFor() {
    demand.add(0, 0, 20_000, 0);
    demand.add(0, 60_000, 80_000, 0);
    assertThat(demand.shareOf(0, 20_000)).isEqualTo(10_000);
    assertThat(demand.shareOf(0, 80_000)).isEqualTo(40_000);
    assertThat(demand.shareOf(0, 1_000_000)).isEqualTo(40_000);
    assertThat(demand.shareOf(1, 20_000)).isZero();
  }

  @Test
  void aBoundedNumberOfSlotsIsRememberedThoseAskedForLast() {
    long far = 1L << 40;
    for (long slot = far; slot < far + 10_000; slot++) {
      demand.add(7, 0, 5000, 0);
      demand.add(slot, slot * 100, slot * 100 + 10_000, 0);
    }
    assertThat(demand.bytes(far)).isZero();
    assertThat(demand.bytes(far + 9_999)).isEqualTo(10_000);
    assertThat(demand.bytes(far + 10_000 - SlotDemand.MOST_SLOTS / 2)).isEqualTo(10_000);
    assertThat(demand.bytes(7)).as("asked for again and again").isEqualTo(10_000 * 5000L);
  }

  @Test
  void clearingConcernsOneSlot() {
    demand.add(0, 0, 5000, 0);
    demand.add(1, 0, 5000, 0);
    demand.clear(0);
    assertThat(demand.bytes(0)).isZero();
    assertThat(demand.bytes(1)).isEqualTo(5000);
  }
}
