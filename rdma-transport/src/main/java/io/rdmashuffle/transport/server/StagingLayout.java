package io.rdmashuffle.transport.server;

/**
 * Lays the blocks of one request out over chunks of equal size, one behind the other. A block that
 * fits a chunk never crosses an edge, so that it is one READ; a larger one starts a chunk.
 */
final class StagingLayout {
  private static final int ALIGNMENT_BYTES = 64; // a cache line, what adapters move at a time
  private final int chunkBytes;
  private final int mostChunks;
  private final int shareChunks;
  private int chunks;
  private long usedOfLast;

  /**
   * @param mostChunks not to be exceeded
   * @param shareChunks exceeded by a single block at most
   */
  StagingLayout(int chunkBytes, int mostChunks, int shareChunks) {
    this.chunkBytes = chunkBytes;
    this.mostChunks = mostChunks;
    this.shareChunks = shareChunks;
    this.usedOfLast = chunkBytes;
  }

  /**
   * Where a block begins; it goes on at the start of the next chunk.
   *
   * @param chunk index of the chunk
   * @param offsetBytes in that chunk
   */
  record Place(int chunk, int offsetBytes) {}

  /** Finds room for a block. Null, and nothing changed, if it would take too many chunks. */
  Place add(long bytes) {
    if (bytes <= chunkBytes - usedOfLast) {
      Place place = new Place(chunks - 1, (int) usedOfLast);
      usedOfLast = align(usedOfLast + bytes);
      return place;
    }
    long fresh = pieces(bytes);
    if (fresh > (chunks == 0 ? mostChunks : shareChunks - chunks)) {
      return null;
    }
    Place place = new Place(chunks, 0);
    chunks += (int) fresh;
    usedOfLast = align(bytes - (fresh - 1) * chunkBytes);
    return place;
  }

  /** How many pieces a block of that length would be. */
  long pieces(long bytes) {
    return bytes / chunkBytes + (bytes % chunkBytes == 0 ? 0 : 1); // no sum: it may overflow
  }

  /** Whether a block of that length would have room if there were no others. */
  boolean fitsAlone(long bytes) {
    return pieces(bytes) <= mostChunks;
  }

  int chunks() {
    return chunks;
  }

  private static long align(long bytes) {
    return (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
  }
}
