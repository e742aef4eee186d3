package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;

final class WindowSharesTest {
  private final WindowShares shares = new WindowShares(48, 3, 20);

  @Test
  void eachGetsAnEqualShareAndOneIsLeftForTheNext() {
    BatchWindow first = shares.open();
    assertThat(first.bytes()).isEqualTo(20);
    BatchWindow second = shares.open();
    assertThat(first.bytes()).isEqualTo(16);
    assertThat(second.bytes()).isEqualTo(16);
    BatchWindow third = shares.open();
    assertThat(third.bytes()).isEqualTo(12);
    second.close();
    second.close();
    assertThat(first.bytes()).isEqualTo(16);
    third.close();
    assertThat(first.bytes()).isEqualTo(20);
  }

  @Test
  void manyGetTheLeastEach() {
    for (int i = 0; i < 30; i++) {
      shares.open();
    }
    assertThat(shares.open().bytes()).isEqualTo(3);
  }

  @Test
  void aWindowThatShrinksBelowItsUseHasNoRoomUntilItIsRead() {
    BatchWindow window = shares.open();
    window.take(18);
    assertThat(window.freeBytes()).isEqualTo(2);
    BatchWindow other = shares.open();
    assertThat(window.freeBytes()).isZero();
    assertThat(other.freeBytes()).isEqualTo(16);
    window.give(10);
    assertThat(window.freeBytes()).isEqualTo(8);
  }

  @Test
  void roomForAFirstPieceIsKeptByTheLongestSegmentThatCame() {
    WindowShares some = new WindowShares(4800, 100, 1000);
    assertThat(some.firstBytes()).isEqualTo(100);
    some.lengthCame(0);
    assertThat(some.firstBytes()).isEqualTo(25);
    some.lengthCame(60);
    some.lengthCame(30);
    assertThat(some.firstBytes()).isEqualTo(60);
    some.lengthCame(300);
    assertThat(some.firstBytes()).isEqualTo(100);
  }

  @Test
  void firstPiecesMayTakeAllOfAWindowWhereNothingComesBehindThem() {
    WindowShares some = new WindowShares(1600, 100, 1000);
    some.open();
    assertThat(some.firstsBytes()).as("nothing is known yet").isEqualTo(400);
    some.lengthCame(100);
    assertThat(some.firstsBytes()).isEqualTo(800);
    some.lengthCame(101);
    assertThat(some.firstsBytes()).isEqualTo(400);
  }

  @Test
  void fiveFetchersOfATaskStayBelowItsPool() {
    WindowShares ofATask = ReduceSettings.from(new JobConf(false)).limits().windows();
    BatchWindow alone = ofATask.open();
    assertThat(alone.bytes()).isEqualTo(24 << 20);
    for (int i = 1; i < 5; i++) {
      ofATask.open();
    }
    assertThat(alone.bytes()).isEqualTo(8 << 20);
  }
}
