package io.rdmashuffle.transport.client;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * The memory of a {@link LandedBlock}, which outlives a block that its holder lost without closing
 * it. A read in progress keeps it: should the block be closed meanwhile, the end of the last read
 * gives the memory back. Any thread.
 */
final class LandedMemory extends PhantomReference<LandedBlock> {
  private static final AtomicIntegerFieldUpdater<LandedMemory> STATE =
      AtomicIntegerFieldUpdater.newUpdater(LandedMemory.class, "state");

  /** In {@link #state}: no read may begin any more. */
  private static final int CLOSED = Integer.MIN_VALUE;

  private final BlockName name;
  private final Slice first;
  private volatile boolean lent;
  private volatile int state; // reads in progress, and CLOSED

  LandedMemory(
      LandedBlock block, BlockName name, Slice first, ReferenceQueue<LandedBlock> unreachable) {
    super(block, unreachable);
    this.name = name;
    this.first = first;
  }

  BlockName name() {
    return name;
  }

  Slice first() {
    return first;
  }

  /** Somebody has a buffer over this memory, which may live on after the block is unreachable. */
  void lent() {
    lent = true;
  }

  boolean isLent() {
    return lent;
  }

  boolean isClosed() {
    return state < 0;
  }

  /** Returns false if the memory is not the block's any more. Else {@link #endRead} must follow. */
  boolean tryBeginRead() {
    while (true) {
      int now = state;
      if (now < 0) {
        return false;
      }
      if (STATE.compareAndSet(this, now, now + 1)) {
        return true;
      }
    }
  }

  void endRead() {
    if (STATE.decrementAndGet(this) == CLOSED) {
      first.releaseAll();
    }
  }

  /**
   * Gives the memory back, at once or at the end of the last read in progress. Idempotent.
   *
   * @return false if it was closed before
   */
  boolean close() {
    while (true) {
      int now = state;
      if (now < 0) {
        return false;
      }
      if (STATE.compareAndSet(this, now, now | CLOSED)) {
        if (now == 0) {
          first.releaseAll();
        }
        return true;
      }
    }
  }
}
