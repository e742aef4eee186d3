package io.rdmashuffle.transport.client;

import java.nio.ByteBuffer;

/** A block in ordinary memory: it came inside a reply, or was copied out of registered memory. */
final class HeapBlock extends PartsBlock {
  private final byte[][] parts;
  private volatile boolean closed;

  /**
   * @param parts together the block; taken over
   */
  HeapBlock(BlockFacts facts, byte[]... parts) {
    super(facts, length(parts));
    this.parts = parts;
  }

  private static long length(byte[][] parts) {
    long sum = 0;
    for (byte[] part : parts) {
      sum += part.length;
    }
    return sum;
  }

  @Override
  ByteBuffer[] parts() {
    ByteBuffer[] views = new ByteBuffer[parts.length];
    for (int i = 0; i < views.length; i++) {
      views[i] = ByteBuffer.wrap(parts[i]);
    }
    return views;
  }

  @Override
  boolean tryBeginRead() {
    return !closed;
  }

  @Override
  void endRead() {
    // Ordinary memory stays as long as anybody looks at it.
  }

  @Override
  public void close() {
    closed = true;
  }
}
