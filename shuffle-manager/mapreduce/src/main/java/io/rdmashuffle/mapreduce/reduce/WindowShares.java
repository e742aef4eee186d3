package io.rdmashuffle.mapreduce.reduce;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Divides the memory that segments land in between the batches of a task: each may use an equal
 * share, and one more share stays free for the batch that comes next. So a fetcher that is alone
 * asks for much at a time, and the pool is not used up when others join it. Any thread.
 */
final class WindowShares {
  private final long poolBytes;
  private final long leastBytes;
  private final long mostBytes;
  private final AtomicInteger batches = new AtomicInteger();

  /**
   * @param poolBytes to be divided
   * @param leastBytes of a window, however many batches there are
   * @param mostBytes of a window, however few there are
   */
  WindowShares(long poolBytes, long leastBytes, long mostBytes) {
    if (leastBytes <= 0 || mostBytes < leastBytes) {
      throw new IllegalArgumentException(leastBytes + " to " + mostBytes + " bytes");
    }
    this.poolBytes = poolBytes;
    this.leastBytes = leastBytes;
    this.mostBytes = mostBytes;
  }

  /** The window of a batch that begins; it closes it. */
  BatchWindow open() {
    batches.incrementAndGet();
    return new BatchWindow(this);
  }

  /** Bytes that each batch may have under way, or here and not yet read. */
  long windowBytes() {
    long share = poolBytes / (batches.get() + 1);
    return Math.max(leastBytes, Math.min(mostBytes, share));
  }

  void closed() {
    batches.decrementAndGet();
  }
}
