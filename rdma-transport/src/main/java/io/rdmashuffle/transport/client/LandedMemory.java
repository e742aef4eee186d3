package io.rdmashuffle.transport.client;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/**
 * The memory of a {@link LandedBlock}, which outlives a block that its holder lost without closing
 * it. Any thread.
 */
final class LandedMemory extends PhantomReference<LandedBlock> {
  private static final VarHandle RELEASED = releasedHandle();

  private final BlockName name;
  private final Slice first;
  private volatile boolean lent;

  @SuppressWarnings("unused") // through RELEASED
  private volatile boolean released;

  LandedMemory(
      LandedBlock block, BlockName name, Slice first, ReferenceQueue<LandedBlock> unreachable) {
    super(block, unreachable);
    this.name = name;
    this.first = first;
  }

  private static VarHandle releasedHandle() {
    try {
      return MethodHandles.lookup().findVarHandle(LandedMemory.class, "released", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
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

  boolean isReleased() {
    // What was read from the memory before this call must not be read after it: BlockStream.
    VarHandle.loadLoadFence();
    return released;
  }

  /** The block was closed. Idempotent. */
  void close() {
    if (release()) {
      clear();
    }
  }

  /**
   * Gives the memory back, once.
   *
   * @return false if that has happened before
   */
  boolean release() {
    if (!RELEASED.compareAndSet(this, false, true)) {
      return false;
    }
    first.releaseAll();
    return true;
  }
}
