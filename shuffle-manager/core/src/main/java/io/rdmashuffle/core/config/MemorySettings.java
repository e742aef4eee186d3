package io.rdmashuffle.core.config;

import io.rdmashuffle.transport.memory.OverflowLimit;

/**
 * How much memory a process may take outside its heap: registered, and for blocks that find no room
 * there.
 *
 * @param registeredMaxBytes 0 for "the smaller of the memlock limit and the share of the overhead"
 * @param overheadShare percent of the process's memory overhead that both may take together
 */
public record MemorySettings(long registeredMaxBytes, int overheadShare) {
  /** Of the share, what registered memory may take; the rest is kept for overflow memory. */
  private static final int REGISTERED_PARTS = 5;

  private static final int PARTS = 6;

  /**
   * What may be registered, whatever the host's limit on pinned memory says besides.
   *
   * @param overheadBytes what the container grants beyond the heap
   */
  public long registeredShareBytes(long overheadBytes) {
    return togetherBytes(overheadBytes) / PARTS * REGISTERED_PARTS;
  }

  /**
   * What blocks may take beside registered memory.
   *
   * @param overheadBytes as above
   */
  public OverflowLimit overflow(long overheadBytes) {
    long together = togetherBytes(overheadBytes);
    return new OverflowLimit(together - registeredShareBytes(overheadBytes), together);
  }

  private long togetherBytes(long overheadBytes) {
    return overheadBytes / 100 * overheadShare;
  }
}
