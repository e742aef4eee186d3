package io.rdmashuffle.transport.client;

/**
 * A block that passes through transit memory piece by piece and is put together in overflow memory.
 * It has room there for all of it before its first READ, so that no two blocks wait for each other.
 */
final class CopiedOut implements Landing {
  private final LandingMemory memory;
  private final Slice first;
  private final long bytes;
  private Slice reserved;
  private Slice target;
  private int targetOffset;
  private long copiedBytes;
  private int copies;
  private boolean released;

  /**
   * @param first room for the whole block; taken over
   */
  CopiedOut(LandingMemory memory, Slice first, long bytes) {
    this.memory = memory;
    this.first = first;
    this.target = first;
    this.bytes = bytes;
  }

  /** Where the block is put together. */
  Slice first() {
    return first;
  }

  @Override
  public int reserve(int wantedBytes) {
    if (reserved == null) {
      reserved = memory.transit(wantedBytes);
    }
    return reserved == null ? 0 : reserved.bytes();
  }

  @Override
  public long address() {
    return reserved.address();
  }

  @Override
  public int lkey() {
    return reserved.lkey();
  }

  @Override
  public CopyOut take() {
    Slice taken = reserved;
    CopyOut copy = new CopyOut(taken, target, targetOffset);
    reserved = null;
    long end = (long) targetOffset + taken.bytes();
    while (target.next() != null && end >= target.bytes()) {
      end -= target.bytes();
      target = target.next();
    }
    targetOffset = (int) end;
    return copy;
  }

  /**
   * Keeps the room until {@link #copyEnded}, even if the block is given up meanwhile.
   *
   * @return false if it is given up already: there is nothing to copy to
   */
  boolean beginCopy() {
    if (released) {
      return false;
    }
    copies++;
    return true;
  }

  /**
   * A copy is done, or failed with 0 bytes.
   *
   * @return whether the block is complete, and the caller's from now on
   */
  boolean copyEnded(int bytesCopied) {
    copies--;
    copiedBytes += bytesCopied;
    if (released && copies == 0) {
      first.releaseAll();
    }
    return !released && copiedBytes == bytes;
  }

  /** Idempotent. */
  @Override
  public void release() {
    if (reserved != null) {
      reserved.releaseAll();
      reserved = null;
    }
    if (!released) {
      released = true;
      if (copies == 0) {
        first.releaseAll();
      }
    }
  }
}
