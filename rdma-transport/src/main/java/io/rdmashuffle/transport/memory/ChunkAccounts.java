package io.rdmashuffle.transport.memory;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts chunks: how many are registered, and how many ordinary and reserved users hold. Admits an
 * ordinary user only while a reserve's worth is left. Any thread, without locks.
 */
final class ChunkAccounts {
  private final int reserve;
  private final AtomicInteger registered = new AtomicInteger();
  private final AtomicInteger ordinaryOut = new AtomicInteger();
  private final AtomicInteger reservedOut = new AtomicInteger();

  ChunkAccounts(int reserve) {
    this.reserve = reserve;
  }

  boolean tryAdmit(boolean reservedUser) {
    if (reservedUser) {
      reservedOut.incrementAndGet(); // bounded by what is free
      return true;
    }
    while (true) {
      int out = ordinaryOut.get();
      if (out >= registered.get() - reserve) {
        return false;
      }
      if (ordinaryOut.compareAndSet(out, out + 1)) {
        return true;
      }
    }
  }

  void dismiss(boolean reservedUser) {
    (reservedUser ? reservedOut : ordinaryOut).decrementAndGet();
  }

  void onRegistered(int chunks) {
    registered.addAndGet(chunks);
  }

  /** Takes registered chunks out of the count, unless the reserve needs them. */
  boolean tryWithdraw(int chunks) {
    int left = registered.addAndGet(-chunks);
    if (left >= reserve + ordinaryOut.get()) {
      return true;
    }
    registered.addAndGet(chunks);
    return false;
  }

  int registered() {
    return registered.get();
  }

  int out() {
    return ordinaryOut.get() + reservedOut.get();
  }

  int free() {
    return Math.max(0, registered.get() - out());
  }

  /**
   * @param most how many may be registered
   */
  int ordinaryLeft(int most) {
    return Math.max(0, Math.min(most - out(), most - reserve - ordinaryOut.get()));
  }
}
