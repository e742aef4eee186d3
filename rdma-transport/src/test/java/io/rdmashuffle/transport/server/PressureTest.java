package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.memory.Pages;
import io.rdmashuffle.transport.testing.ManualClock;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

final class PressureTest {
  private final ManualClock clock = new ManualClock();
  private final Pressure pressure = new Pressure(clock);

  private static Window window(long bytes, long servedBytes) {
    FileEntry entry = new FileEntry(new OutputFile(Path.of("f"), bytes), 1 << 20, new Pages(4096));
    Window window = new Window(entry, 0, bytes);
    window.addUse(0, servedBytes);
    return window;
  }

  @Test
  void evictingWhatHasNotPaidRaisesTheBarUpToALimit() {
    assertThat(pressure.bar()).isEqualTo(1);
    pressure.onEvicted(window(10_000, 19_999), 100_000);
    assertThat(pressure.bar()).isEqualTo(2);
    for (int i = 0; i < 10; i++) {
      pressure.onEvicted(window(10_000, 0), 100_000);
    }
    assertThat(pressure.bar()).isEqualTo(16);
  }

  @Test
  void evictingWhatHasPaidDoesNot() {
    pressure.onEvicted(window(10_000, 20_000), 100_000);
    assertThat(pressure.bar()).isEqualTo(1);
  }

  @Test
  void theBarComesDownWithTime() {
    pressure.onEvicted(window(10_000, 0), 100_000);
    pressure.onEvicted(window(10_000, 0), 100_000);
    clock.advanceNs(Duration.ofSeconds(11).toNanos());
    assertThat(pressure.bar()).isEqualTo(2);
    clock.advanceNs(Duration.ofSeconds(10).toNanos());
    assertThat(pressure.bar()).isEqualTo(1);
  }

  @Test
  void anEpochPassesWhenAsMuchWasEvictedAsIsHeld() {
    pressure.onEvicted(window(40_000, 80_000), 100_000);
    pressure.onEvicted(window(40_000, 80_000), 100_000);
    assertThat(pressure.epoch()).isZero();
    pressure.onEvicted(window(40_000, 80_000), 100_000);
    assertThat(pressure.epoch()).isEqualTo(1);
  }
}
