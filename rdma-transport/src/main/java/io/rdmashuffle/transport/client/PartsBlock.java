package io.rdmashuffle.transport.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.function.Function;

/** What blocks in chunks and on the heap have in common: bytes in one or more parts. */
abstract class PartsBlock implements Block {
  private final BlockFacts facts;
  private final long bytes;

  PartsBlock(BlockFacts facts, long bytes) {
    this.facts = facts;
    this.bytes = bytes;
  }

  /**
   * New views of the parts, in order, with independent positions. Between {@link #beginRead} and
   * {@link #endRead} only.
   */
  abstract ByteBuffer[] parts();

  /** Keeps the memory until {@link #endRead}; false if the block is closed. */
  abstract boolean tryBeginRead();

  abstract void endRead();

  @Override
  public final long bytes() {
    return bytes;
  }

  @Override
  public final long attribute() {
    return facts.attribute();
  }

  @Override
  public final Source source() {
    return facts.source();
  }

  @Override
  public final InputStream stream() {
    return new BlockStream(this);
  }

  @Override
  public ByteBuffer buffer() {
    return whileOpen(parts -> parts.length == 1 ? parts[0] : joined(parts));
  }

  @Override
  public ByteBuffer[] buffers() {
    return whileOpen(parts -> parts);
  }

  private <T> T whileOpen(Function<ByteBuffer[], T> use) {
    if (!tryBeginRead()) {
      throw new IllegalStateException(closedText());
    }
    try {
      return use.apply(parts());
    } finally {
      endRead();
    }
  }

  private ByteBuffer joined(ByteBuffer[] parts) {
    if (bytes > Integer.MAX_VALUE - 8) {
      throw new IllegalStateException(this + " is longer than a buffer can be: use its stream");
    }
    ByteBuffer whole = ByteBuffer.allocate((int) bytes);
    for (ByteBuffer part : parts) {
      whole.put(part);
    }
    return whole.flip();
  }

  final void beginRead() throws IOException {
    if (!tryBeginRead()) {
      throw new IOException(closedText());
    }
  }

  private String closedText() {
    return this + " was closed";
  }

  @Override
  public final String toString() {
    return "block " + facts.name() + " (" + bytes + " bytes)";
  }
}
