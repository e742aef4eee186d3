package io.rdmashuffle.transport.client;

import java.util.ArrayList;
import java.util.List;

/**
 * A block that passes through transit memory piece by piece and is put together in ordinary memory.
 */
final class CopiedOut implements Landing {
  private final LandingMemory memory;
  private final long bytes;
  private final List<byte[]> parts = new ArrayList<>(1);
  private Slice reserved;
  private long copiedBytes;

  CopiedOut(LandingMemory memory, long bytes) {
    this.memory = memory;
    this.bytes = bytes;
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
  public Slice take() {
    Slice taken = reserved;
    reserved = null;
    parts.add(null);
    return taken;
  }

  /** Number of the part that was taken last. */
  int lastPart() {
    return parts.size() - 1;
  }

  /**
   * Puts a part in its place.
   *
   * @return whether the block is complete
   */
  boolean copied(int part, byte[] content) {
    parts.set(part, content);
    copiedBytes += content.length;
    return copiedBytes == bytes;
  }

  byte[][] parts() {
    return parts.toArray(new byte[0][]);
  }

  @Override
  public void release() {
    if (reserved != null) {
      reserved.releaseAll();
      reserved = null;
    }
    parts.clear();
  }
}
