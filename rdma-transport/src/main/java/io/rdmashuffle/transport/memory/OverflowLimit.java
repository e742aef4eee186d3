package io.rdmashuffle.transport.memory;

/**
 * How much ordinary memory outside the Java heap may hold blocks that find no room in the pool of
 * registered memory. It is never less than its own share, and more where the host's limit on pinned
 * memory leaves part of what both together may take.
 *
 * @param leastBytes its own share
 * @param togetherBytes what it and registered memory may take together; no more than its own share
 *     and the bound on registered memory come to
 */
public record OverflowLimit(long leastBytes, long togetherBytes) {
  /** Of a process whose memory nobody bounds. */
  public static final OverflowLimit STANDALONE = new OverflowLimit(256L << 20, 0);

  public OverflowLimit {
    if (leastBytes < 0 || togetherBytes < 0) {
      throw new IllegalArgumentException(
          "overflow memory of " + leastBytes + " bytes, together " + togetherBytes);
    }
  }

  /**
   * @param registeredBytes what the process may register in fact
   */
  public long bytes(long registeredBytes) {
    return Math.max(leastBytes, togetherBytes - registeredBytes);
  }
}
