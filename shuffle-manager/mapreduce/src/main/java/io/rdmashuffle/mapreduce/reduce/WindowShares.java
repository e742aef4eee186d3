package io.rdmashuffle.mapreduce.reduce;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Divides the memory that segments land in between the batches of a task: each may use an equal
 * share, and one more share stays free for the batch that comes next. So a fetcher that is alone
 * asks for much at a time, and the pool is not used up when others join it. Also remembers how long
 * first pieces are, for which room must be kept before that is known. Any thread.
 */
final class WindowShares {
  private static final int SHORTEST_SHARE = 4; // of a piece, that a first piece is taken to have

  private final long poolBytes;
  private final long pieceBytes;
  private final long mostBytes;
  private final AtomicInteger batches = new AtomicInteger();
  private final AtomicLong longestFirstBytes = new AtomicLong(); // 0: none came yet

  /**
   * @param poolBytes to be divided
   * @param pieceBytes of all pieces but the last of a segment; a window's least, however many
   *     batches there are
   * @param mostBytes of a window, however few there are
   */
  WindowShares(long poolBytes, long pieceBytes, long mostBytes) {
    if (pieceBytes <= 0 || mostBytes < pieceBytes) {
      throw new IllegalArgumentException(pieceBytes + " to " + mostBytes + " bytes");
    }
    this.poolBytes = poolBytes;
    this.pieceBytes = pieceBytes;
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
    return Math.max(pieceBytes, Math.min(mostBytes, share));
  }

  /** A first piece came. */
  void firstCame(long bytes) {
    longestFirstBytes.accumulateAndGet(Math.max(1, bytes), Math::max);
  }

  /** Room to keep for a first piece: the longest so far tells, as the maps of a job are alike. */
  long firstBytes() {
    long longest = longestFirstBytes.get();
    return longest == 0 ? pieceBytes : Math.max(pieceBytes / SHORTEST_SHARE, longest);
  }

  void closed() {
    batches.decrementAndGet();
  }
}
