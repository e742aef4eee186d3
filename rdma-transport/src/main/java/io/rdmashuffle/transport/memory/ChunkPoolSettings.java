package io.rdmashuffle.transport.memory;

/**
 * The shape of a {@link ChunkPool}.
 *
 * @param chunkBytes size of a chunk
 * @param chunksPerSlab chunks registered at a time, at most 64; a slab is less than 2 GiB
 * @param maxChunks chunks at most
 * @param reserveChunks how many of these are never given to ordinary users; less than all
 */
public record ChunkPoolSettings(
    int chunkBytes, int chunksPerSlab, int maxChunks, int reserveChunks) {
  private static final int FEWEST_CHUNKS = 16;
  private static final int SMALLEST_CHUNK_BYTES = 16 << 10;
  private static final int SLAB_BYTES = 16 << 20;
  private static final int SLABS = 4;

  public ChunkPoolSettings {
    require(chunkBytes > 0, "chunkBytes", chunkBytes);
    require(chunksPerSlab > 0 && chunksPerSlab <= Slab.MAX_CHUNKS, "chunksPerSlab", chunksPerSlab);
    long slabBytes = (long) chunkBytes * chunksPerSlab;
    require(slabBytes <= Integer.MAX_VALUE, "bytes of a slab", slabBytes);
    require(maxChunks > 0, "maxChunks", maxChunks);
    require(reserveChunks >= 0 && reserveChunks < maxChunks, "reserveChunks", reserveChunks);
  }

  /**
   * A pool of so many bytes, a reserve in percent of them, and slabs of about 16 MiB.
   *
   * @param poolBytes at least one chunk, rounded down to whole chunks
   * @param reservePercent of the pool, rounded up to whole chunks
   */
  public static ChunkPoolSettings ofBytes(long poolBytes, int chunkBytes, int reservePercent) {
    long chunks = poolBytes / chunkBytes;
    require(chunks > 0 && chunks <= Integer.MAX_VALUE, "chunks of a pool", chunks);
    int perSlab = Math.max(1, Math.min(Slab.MAX_CHUNKS, SLAB_BYTES / chunkBytes));
    long reserve = (chunks * reservePercent + 99) / 100;
    return new ChunkPoolSettings(
        chunkBytes, (int) Math.min(perSlab, chunks), (int) chunks, (int) reserve);
  }

  /**
   * A pool that works however small it is: chunks are halved until there are 16 of them or they are
   * down to 16 KiB, and a slab is a quarter of the pool or about 16 MiB, whichever is less, so that
   * part of it can be had where all of it cannot.
   *
   * @param poolBytes rounded down to whole chunks, but one chunk at least
   * @param chunkBytes of a large pool
   * @param reservePercent of the pool, rounded up to whole chunks
   */
  public static ChunkPoolSettings fitting(long poolBytes, int chunkBytes, int reservePercent) {
    int fitted = chunkBytes;
    while (fitted > SMALLEST_CHUNK_BYTES && poolBytes / fitted < FEWEST_CHUNKS) {
      fitted /= 2;
    }
    int chunks = (int) Math.max(1, Math.min(Integer.MAX_VALUE, poolBytes / fitted));
    int perSlab = Math.min(Math.min(Slab.MAX_CHUNKS, SLAB_BYTES / fitted), chunks / SLABS);
    int reserve = (int) (((long) chunks * reservePercent + 99) / 100);
    return new ChunkPoolSettings(
        fitted, Math.max(1, perSlab), chunks, Math.min(reserve, chunks - 1));
  }

  /** What the pool has when it has grown to its limit. */
  public long bytes() {
    return (long) maxChunks * chunkBytes;
  }

  private static void require(boolean fits, String what, long value) {
    if (!fits) {
      throw new IllegalArgumentException(what + " of " + value);
    }
  }
}
