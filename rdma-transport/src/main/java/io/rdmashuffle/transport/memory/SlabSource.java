package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.TransportException;

/** Where the memory of a {@link ChunkPool} comes from. Any thread. */
public interface SlabSource {
  /** What the memory is for, for logs. */
  String name();

  /**
   * Gets anonymous zeroed memory. Slow; not for the progress thread. If it throws, nothing is left
   * mapped, registered or reserved.
   *
   * @param bytes rounded up to whole pages
   * @return the caller closes it
   * @throws TransportException of kind RETRY if there is no room now
   */
  SlabMemory allocate(long bytes) throws TransportException;
}
