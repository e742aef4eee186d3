package io.rdmashuffle.core.config;

/**
 * How much memory a process may register.
 *
 * @param registeredMaxBytes 0 for "the smaller of the memlock limit and the share of the overhead"
 * @param overheadShare percent of the process's memory overhead
 */
public record MemorySettings(long registeredMaxBytes, int overheadShare) {
  /**
   * The budget of this process, whatever the host's limit on pinned memory says besides.
   *
   * @param overheadBytes what the engine's container grants beyond the heap
   */
  public long budgetBytes(long overheadBytes) {
    return registeredMaxBytes != 0 ? registeredMaxBytes : overheadBytes / 100 * overheadShare;
  }
}
