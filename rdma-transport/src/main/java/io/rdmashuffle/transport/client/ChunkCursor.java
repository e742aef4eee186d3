package io.rdmashuffle.transport.client;

import java.util.function.Supplier;

/**
 * Lays blocks out one after another in chunks. Progress thread only; whoever made it calls {@link
 * #drop} at the end.
 */
final class ChunkCursor {
  /** Slices start at cache lines, so that no two blocks share one. */
  private static final int ALIGNMENT = 64;

  /** A block of at most this part of a chunk is not split: a READ costs more than the rest. */
  private static final int UNSPLIT_PART = 8;

  private final Supplier<SharedChunk> source;
  private final int chunkBytes;
  private SharedChunk open;
  private int offset;

  /**
   * @param source gives the next chunk, null if there is none
   */
  ChunkCursor(Supplier<SharedChunk> source, int chunkBytes) {
    this.source = source;
    this.chunkBytes = chunkBytes;
  }

  /** Bytes left in the open chunk for a request of that many. */
  int room(long wanted) {
    if (open == null) {
      return 0;
    }
    if (offset > 0 && open.isEmpty()) {
      open.reuse();
      offset = 0;
    }
    int rest = Math.max(0, chunkBytes - offset);
    return wanted > rest && wanted <= chunkBytes / UNSPLIT_PART ? 0 : rest;
  }

  /**
   * Takes up to {@code wanted} bytes in one piece.
   *
   * @return null if the source has no chunk
   */
  Slice take(long wanted) {
    if (room(wanted) == 0 && !advance()) {
      return null;
    }
    int bytes = (int) Math.min(wanted, chunkBytes - offset);
    Slice slice = new Slice(open.retain(), offset, bytes);
    offset += (bytes + ALIGNMENT - 1) & -ALIGNMENT;
    return slice;
  }

  /** Whether no block lies in the open chunk. */
  boolean isEmpty() {
    return open != null && open.isEmpty();
  }

  /** Lets go of the open chunk if no block lies in it. */
  void trim() {
    if (isEmpty()) {
      drop();
    }
  }

  /** Lets go of the open chunk; it returns to the pool with the last block in it. */
  void drop() {
    if (open != null) {
      open.release();
      open = null;
    }
  }

  private boolean advance() {
    SharedChunk next = source.get();
    if (next == null) {
      return false;
    }
    drop();
    open = next;
    offset = 0;
    return true;
  }
}
