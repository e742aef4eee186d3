package io.rdmashuffle.mapreduce.reduce;

/**
 * One batch's part of {@link WindowShares}, and how much of it is in use: more than all of it,
 * after other batches have begun. Guarded by the batch's lock.
 */
final class BatchWindow implements AutoCloseable {
  private final WindowShares shares;
  private long usedBytes;
  private boolean closed;

  BatchWindow(WindowShares shares) {
    this.shares = shares;
  }

  long bytes() {
    return shares.windowBytes();
  }

  long usedBytes() {
    return usedBytes;
  }

  boolean isEmpty() {
    return usedBytes == 0;
  }

  long freeBytes() {
    return Math.max(0, bytes() - usedBytes);
  }

  void take(long bytes) {
    usedBytes += bytes;
  }

  void give(long bytes) {
    usedBytes -= bytes;
  }

  /** Idempotent. What is still in use may be given back later. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      shares.closed();
    }
  }
}
