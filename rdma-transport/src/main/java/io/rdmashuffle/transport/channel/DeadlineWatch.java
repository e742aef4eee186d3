package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.channel.ProgressLoop.Timer;
import java.util.function.LongUnaryOperator;

/**
 * One timer for all deadlines of a connection. What ends in time, as nearly everything does, costs
 * a comparison: the timer is set for the earliest deadline seen, and when it fires it looks which
 * one is next. Progress thread only.
 */
final class DeadlineWatch {
  private final ProgressLoop loop;
  private final LongUnaryOperator remainingNs;
  private final Runnable onExpired;
  private Timer timer;
  private long timerAtNs;

  /**
   * @param remainingNs time until the first deadline from the given moment, {@link Long#MAX_VALUE}
   *     for none
   * @param onExpired called when it has passed
   */
  DeadlineWatch(ProgressLoop loop, LongUnaryOperator remainingNs, Runnable onExpired) {
    this.loop = loop;
    this.remainingNs = remainingNs;
    this.onExpired = onExpired;
  }

  /** There is a new deadline. */
  void cover(long deadlineNs) {
    if (timer == null || deadlineNs - timerAtNs < 0) {
      cancel();
      timerAtNs = deadlineNs;
      timer = loop.schedule(deadlineNs - loop.nowNs(), this::onTimer);
    }
  }

  void cancel() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  private void onTimer() {
    timer = null;
    long nowNs = loop.nowNs();
    long leftNs = remainingNs.applyAsLong(nowNs);
    if (leftNs <= 0) {
      onExpired.run();
    } else if (leftNs != Long.MAX_VALUE) {
      cover(nowNs + leftNs);
    }
  }
}
