package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.channel.ProgressLoop.Timer;
import io.rdmashuffle.transport.wire.WireLimits;
import java.util.Arrays;

/**
 * Leases that a reader is done with. They ride on the next LOCATE, or go by themselves if none
 * comes soon, or if the owner is short of what they hold. Progress thread only; {@link #close}
 * cancels the timer.
 */
final class LeaseReturns {
  /** How long a lease waits for a LOCATE to ride on. */
  static final long FLUSH_NS = 5_000_000;

  private static final long[] NONE = new long[0];

  private final ProgressLoop loop;
  private final Runnable flush;
  private long[] leases = new long[WireLimits.RELEASES_PER_FRAME];
  private int size;
  private Timer timer;
  private boolean due;
  private boolean urgent;

  /**
   * @param flush called when leases are due; asks for {@link #take}
   */
  LeaseReturns(ProgressLoop loop, Runnable flush) {
    this.loop = loop;
    this.flush = flush;
  }

  void add(long lease) {
    if (size == leases.length) {
      leases = Arrays.copyOf(leases, 2 * size);
    }
    leases[size++] = lease;
    due = due || urgent;
    if (timer == null && !due) {
      timer = loop.schedule(FLUSH_NS, this::timeOver);
    }
  }

  /**
   * Whether the owner is waiting for leases to come back: then none waits for a LOCATE to ride on.
   */
  void setUrgent(boolean isUrgent) {
    urgent = isUrgent;
    due = due || (urgent && size > 0);
  }

  /** How many wait. */
  int size() {
    return size;
  }

  /** Whether leases have waited long enough. */
  boolean isDue() {
    return due;
  }

  /** The oldest leases, as many as fit into one frame. */
  long[] take() {
    if (size == 0) {
      return NONE;
    }
    int count = Math.min(size, WireLimits.RELEASES_PER_FRAME);
    long[] taken = Arrays.copyOf(leases, count);
    System.arraycopy(leases, count, leases, 0, size - count);
    size -= count;
    due = due && size > 0;
    return taken;
  }

  void close() {
    if (timer != null) {
      timer.cancel();
    }
    size = 0;
    due = false;
  }

  private void timeOver() {
    timer = null;
    if (size > 0) {
      due = true;
      flush.run();
    }
  }
}
