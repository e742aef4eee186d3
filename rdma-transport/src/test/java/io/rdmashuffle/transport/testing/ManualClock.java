package io.rdmashuffle.transport.testing;

import io.rdmashuffle.transport.NanoClock;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until the test moves it. Any thread. */
public final class ManualClock implements NanoClock {
  private final AtomicLong nowNs;

  /** Starts at a time that is neither zero nor near anything special. */
  public ManualClock() {
    this(1_000_000_007L);
  }

  /**
   * @param startNs any number, negative or near overflow too, as of {@link System#nanoTime()}
   */
  public ManualClock(long startNs) {
    nowNs = new AtomicLong(startNs);
  }

  public void advanceNs(long deltaNs) {
    if (deltaNs < 0) {
      throw new IllegalArgumentException("time does not run backwards: " + deltaNs + " ns");
    }
    nowNs.addAndGet(deltaNs);
  }

  @Override
  public long nanoTime() {
    return nowNs.get();
  }
}
