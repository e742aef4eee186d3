package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.ManualClock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LogLimitTest {
  private final ManualClock clock = new ManualClock();
  private final LogLimit limit = new LogLimit(clock);
  private final List<String> lines = new ArrayList<>();

  private void log(Object key) {
    limit.log(key, more -> lines.add(key + more));
  }

  @Test
  void oneLineAMinuteWithTheCountOfThoseLeftOut() {
    for (int i = 0; i < 3000; i++) {
      log("peer");
    }
    assertThat(lines).containsExactly("peer");

    clock.advanceNs(LogLimit.INTERVAL.toNanos() - 1);
    log("peer");
    assertThat(lines).hasSize(1);
    clock.advanceNs(1);
    log("peer");
    log("peer");

    assertThat(lines).containsExactly("peer", "peer (3000 more like it were not logged)");
    clock.advanceNs(LogLimit.INTERVAL.toNanos());
    log("peer");
    clock.advanceNs(LogLimit.INTERVAL.toNanos());
    log("peer");
    assertThat(lines).endsWith("peer (1 more like it were not logged)", "peer");
  }

  @Test
  void keysDoNotConcernEachOther() {
    log("a");
    log("b");
    log("a");
    assertThat(lines).containsExactly("a", "b");
  }

  @Test
  void moreKeysThanAreRememberedShareOneLine() {
    for (int i = 0; i < 10_000; i++) {
      log(i);
    }
    assertThat(lines).hasSize(LogLimit.REMEMBERED_KEYS + 1);

    clock.advanceNs(LogLimit.INTERVAL.toNanos());
    lines.clear();
    for (int i = 0; i < 10_000; i++) {
      log(i);
    }
    assertThat(lines).hasSizeLessThanOrEqualTo(LogLimit.REMEMBERED_KEYS + 2);
  }
}
