package io.rdmashuffle.transport.verbs;

import java.nio.ByteBuffer;

/**
 * A mapped range of this process's memory. Any thread. Its owner closes it, after the region over
 * it is deregistered and nobody uses its views: touching a view of an unmapped range kills the
 * process.
 */
public interface Mapping extends AutoCloseable {
  long address();

  long bytes();

  /**
   * A view of a part, at most 2 GiB - 1, in big-endian order.
   *
   * @param offsetBytes from the start of the mapping
   */
  ByteBuffer view(long offsetBytes, int bytes);

  /** munmap(2). Idempotent. */
  @Override
  void close();
}
