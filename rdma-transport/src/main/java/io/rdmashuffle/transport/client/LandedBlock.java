package io.rdmashuffle.transport.client;

import java.lang.ref.ReferenceQueue;
import java.nio.ByteBuffer;

/** A block in chunks that its READs, or copies of them, filled. Closing gives the memory back. */
final class LandedBlock extends PartsBlock {
  private final LandedMemory memory;

  /**
   * @param first the slices that make up the block; taken over
   * @param unreachable where a block that nobody closed is reported
   */
  LandedBlock(BlockFacts facts, long bytes, Slice first, ReferenceQueue<LandedBlock> unreachable) {
    super(facts, bytes);
    this.memory = new LandedMemory(this, facts.name(), first, unreachable);
  }

  LandedMemory memory() {
    return memory;
  }

  @Override
  ByteBuffer[] parts() {
    int count = 0;
    for (Slice slice = memory.first(); slice != null; slice = slice.next()) {
      count++;
    }
    ByteBuffer[] views = new ByteBuffer[count];
    int i = 0;
    for (Slice slice = memory.first(); slice != null; slice = slice.next()) {
      views[i++] = slice.view();
    }
    return views;
  }

  @Override
  public ByteBuffer[] buffers() {
    memory.lent();
    return super.buffers();
  }

  @Override
  public ByteBuffer buffer() {
    memory.lent();
    return super.buffer();
  }

  @Override
  boolean tryBeginRead() {
    return memory.tryBeginRead();
  }

  @Override
  void endRead() {
    memory.endRead();
  }

  @Override
  public void close() {
    if (memory.close()) {
      memory.clear(); // nothing to find out about it any more
    }
  }
}
