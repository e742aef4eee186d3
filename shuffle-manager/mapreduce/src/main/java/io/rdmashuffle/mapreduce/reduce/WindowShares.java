package io.rdmashuffle.mapreduce.reduce;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Divides the memory that segments land in between the batches of a task: each may use an equal
 * share, and one more share stays free for the batch that comes next. So a fetcher that is alone
 * asks for much at a time, and the pool is not used up when others join it. Also remembers the
 * longest segment, as the maps of a job are alike: how much room to keep for a beginning, and for
 * what comes behind it, is to be known before its length is. Any thread.
 */
final class WindowShares {
  private static final int SHORTEST_SHARE = 4; // of a piece, that a first piece is taken to have
  private static final long UNKNOWN = -1;

  private final long poolBytes;
  private final long pieceBytes;
  private final long mostBytes;
  private final AtomicInteger batches = new AtomicInteger();
  private final AtomicLong longestBytes = new AtomicLong(UNKNOWN); // of a segment

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

  /** The length of a segment came. */
  void lengthCame(long bytes) {
    longestBytes.accumulateAndGet(bytes, Math::max);
  }

  /** Room to keep for the first piece of a segment. */
  long firstBytes() {
    long longest = longestBytes.get();
    return longest == UNKNOWN
        ? pieceBytes
        : Math.max(pieceBytes / SHORTEST_SHARE, Math.min(pieceBytes, longest));
  }

  /** The part of a window for first pieces: half of it, unless nothing comes behind them. */
  long firstsBytes() {
    long longest = longestBytes.get();
    boolean alone = longest != UNKNOWN && longest <= pieceBytes;
    return alone ? windowBytes() : Math.max(pieceBytes, windowBytes() / 2);
  }

  void closed() {
    batches.decrementAndGet();
  }
}
