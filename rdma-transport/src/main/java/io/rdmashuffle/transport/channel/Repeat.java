package io.rdmashuffle.transport.channel;

/** Something done again and again, whatever it throws, without a timer that could fail. */
final class Repeat {
  private final long intervalNs;
  private final Runnable action;
  private long nextNs;

  Repeat(long firstNs, long intervalNs, Runnable action) {
    this.nextNs = firstNs;
    this.intervalNs = intervalNs;
    this.action = action;
  }

  /** Time until it is due, at most {@code limitNs}, at least 0. */
  long delayNs(long nowNs, long limitNs) {
    return Math.min(limitNs, Math.max(0, nextNs - nowNs));
  }

  void runIfDue(long nowNs) {
    if (nextNs - nowNs <= 0) {
      nextNs = nowNs + intervalNs;
      action.run();
    }
  }
}
