package io.rdmashuffle.mapreduce.reduce;

import java.time.Duration;

/**
 * Bounds of one {@link SegmentBatch}.
 *
 * @param pieceBytes how much of a segment is asked for at a time
 * @param windows how much may be under way or here and not yet read; one piece more, if all of the
 *     window is taken by segments whose turn is later
 * @param pieceTimeout how long the reader waits for one piece; longer than the transport's own
 *     deadlines, which end the wait in all cases but a bug
 */
record BatchLimits(int pieceBytes, WindowShares windows, Duration pieceTimeout) {
  /**
   * @throws IllegalArgumentException if nothing could be asked for
   */
  BatchLimits {
    if (pieceBytes <= 0) {
      throw new IllegalArgumentException("pieces of " + pieceBytes + " bytes");
    }
  }

  /** Pieces of a segment. An empty segment has one, which is empty. */
  long pieces(long partBytes) {
    return Math.max(1, (partBytes + pieceBytes - 1) / pieceBytes);
  }

  /** Length of one piece. */
  int pieceBytes(long partBytes, long piece) {
    return (int) Math.min(pieceBytes, partBytes - piece * pieceBytes);
  }
}
