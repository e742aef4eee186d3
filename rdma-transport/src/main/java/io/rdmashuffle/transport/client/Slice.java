package io.rdmashuffle.transport.client;

import java.nio.ByteBuffer;

/**
 * A part of a chunk that one block lies in, with the next part where a block needs several. Holds
 * one use of its chunk until released. Fixed once the READs into it have completed; any thread from
 * then on.
 */
final class Slice {
  private final SharedChunk chunk;
  private final int offset;
  private final int bytes;
  private Slice next;

  /** Takes over one use of the chunk. */
  Slice(SharedChunk chunk, int offset, int bytes) {
    this.chunk = chunk;
    this.offset = offset;
    this.bytes = bytes;
  }

  void append(Slice following) {
    next = following;
  }

  Slice next() {
    return next;
  }

  SharedChunk chunk() {
    return chunk;
  }

  long address() {
    return chunk.address() + offset;
  }

  int lkey() {
    return chunk.lkey();
  }

  int bytes() {
    return bytes;
  }

  ByteBuffer view() {
    return chunk.view(offset, bytes);
  }

  /** Gives back this part and all that follow. Once only. */
  void releaseAll() {
    for (Slice slice = this; slice != null; slice = slice.next) {
      slice.chunk.release();
    }
  }
}
