package io.rdmashuffle.transport.client;

import java.nio.ByteBuffer;

/**
 * A block on the heap: an empty one, or one that came inside a reply, which holds no more than
 * {@link io.rdmashuffle.transport.wire.WireLimits#INLINE_BYTES}.
 */
final class HeapBlock extends PartsBlock {
  private final byte[] content;
  private volatile boolean closed;

  /**
   * @param content taken over
   */
  HeapBlock(BlockFacts facts, byte[] content) {
    super(facts, content.length);
    this.content = content;
  }

  @Override
  ByteBuffer[] parts() {
    return new ByteBuffer[] {ByteBuffer.wrap(content)};
  }

  @Override
  boolean tryBeginRead() {
    return !closed;
  }

  @Override
  void endRead() {
    // The heap keeps it as long as anybody looks at it.
  }

  @Override
  public void close() {
    closed = true;
  }
}
