package io.rdmashuffle.transport.client;

import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * The bytes of one block, in registered or overflow memory, or, up to 4 KiB, on the heap.
 *
 * <p><b>Threads:</b> any. <b>Ownership:</b> whoever holds it closes it once; that gives the memory
 * back. Streams and buffers taken from it end with it: a stream throws on the next read, a buffer
 * must not be touched any more.
 */
public interface Block extends AutoCloseable {
  long bytes();

  /**
   * What the owner's catalog says of this block besides its place: the {@code attribute} of its
   * {@code BlockLocation}, the same however the bytes came. 0 where catalogs have nothing to say.
   */
  long attribute();

  /** How the bytes came. */
  Source source();

  /** A new stream over all bytes, without a copy. */
  InputStream stream();

  /** All bytes in order, without a copy: a view of each piece. */
  ByteBuffer[] buffers();

  /**
   * All bytes in one buffer: a view where they lie in one piece, else a copy on the heap, which is
   * for small blocks only.
   *
   * @throws IllegalStateException if the block is larger than a buffer can be
   */
  ByteBuffer buffer();

  /** Idempotent. */
  @Override
  void close();

  /** How a block's bytes came here. */
  enum Source {
    /** By READ out of the owner's file window. */
    READ,
    /** Inside the reply. */
    INLINE,
    /** By READ out of a copy that the owner made. */
    STAGED
  }
}
