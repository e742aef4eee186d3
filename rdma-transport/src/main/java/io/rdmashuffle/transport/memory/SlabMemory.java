package io.rdmashuffle.transport.memory;

import java.nio.ByteBuffer;

/**
 * What a {@link ChunkPool} divides into chunks: a piece of memory with one owner.
 *
 * <p><b>Threads:</b> any; {@link #deregister} and {@link #close} are slow, not for the progress
 * thread. <b>Errors:</b> a view used after {@link #close} kills the process.
 */
public interface SlabMemory extends AutoCloseable {
  long address();

  /**
   * @throws IllegalStateException if no adapter knows the memory
   */
  int lkey();

  /**
   * @throws IllegalStateException if no adapter knows the memory
   */
  int rkey();

  /** A view of a part, valid until {@link #close}. */
  ByteBuffer view(long offsetBytes, int bytes);

  /** Takes it from the adapter, if one knows it, and leaves it mapped. Idempotent. */
  void deregister();

  /** Deregisters and unmaps. Idempotent. */
  @Override
  void close();
}
