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
    int perSlab = Math.max(1, Math.min(Slab.MAX_CHUNKS, (16 << 20) / chunkBytes));
    long reserve = (chunks * reservePercent + 99) / 100;
    return new ChunkPoolSettings(
        chunkBytes, (int) Math.min(perSlab, chunks), (int) chunks, (int) reserve);
  }

  private static void require(boolean fits, String what, long value) {
    if (!fits) {
      throw new IllegalArgumentException(what + " of " + value);
    }
  }
}
