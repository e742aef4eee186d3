package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.NanoClock;
import java.time.Duration;

/**
 * Keeps the window cache from thrashing. Time passes here in epochs, one each time as many bytes
 * were evicted as are registered: without evictions demand is never forgotten, so traffic that fits
 * ends up registered however slowly it comes.
 *
 * <p>A window evicted before it served its size twice was a mistake. Each such eviction doubles the
 * bar, by which the price of a registration that evicts others is multiplied; the bar halves again
 * for every ten seconds without one. Progress thread only.
 */
final class Pressure {
  private static final int HIGHEST_BAR_LOG2 = 4;
  private static final long HALVING_NS = Duration.ofSeconds(10).toNanos();
  private final NanoClock clock;
  private int epoch;
  private long evictedBytes;
  private int barLog2;
  private long raisedNs;

  Pressure(NanoClock clock) {
    this.clock = clock;
  }

  /**
   * @param registeredBytes what the cache holds, the window included
   */
  void onEvicted(Window window, long registeredBytes) {
    evictedBytes += window.bytes();
    if (evictedBytes >= registeredBytes) {
      evictedBytes = 0;
      epoch++;
    }
    if (!window.hasPaid()) {
      barLog2 = Math.min(HIGHEST_BAR_LOG2, currentLog2() + 1);
      raisedNs = clock.nanoTime();
    }
  }

  int epoch() {
    return epoch;
  }

  /** A power of two from 1 to 16. */
  int bar() {
    return 1 << currentLog2();
  }

  private int currentLog2() {
    long halvings = (clock.nanoTime() - raisedNs) / HALVING_NS;
    return (int) Math.max(0, barLog2 - halvings);
  }
}
