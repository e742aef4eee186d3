package io.rdmashuffle.spark.catalog;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Spark's index of a map output: n + 1 big-endian longs, the offsets of n partitions in the data
 * file and its length (org.apache.spark.shuffle.IndexShuffleBlockResolver).
 */
public final class IndexFile {
  /**
   * Beyond 16 million partitions nobody gains by RDMA, and a broken file cannot exhaust the heap.
   */
  static final long MOST_BYTES = ((1L << 24) + 1) * Long.BYTES;

  private IndexFile() {}

  /**
   * Reads and checks an index against its data file; blocks.
   *
   * @return null if there is no such index
   * @throws IOException if it cannot be read, is malformed, or contradicts the data file
   */
  public static MapOutput read(Path index, Path data) throws IOException {
    byte[] content;
    try {
      long bytes = Files.size(index);
      if (bytes < 2 * Long.BYTES || bytes % Long.BYTES != 0 || bytes > MOST_BYTES) {
        throw new IOException(index + " has " + bytes + " bytes, which is no index of partitions");
      }
      content = Files.readAllBytes(index);
    } catch (NoSuchFileException e) {
      return null;
    }
    long[] offsets = offsets(index, ByteBuffer.wrap(content).asLongBuffer());
    long dataBytes = Files.exists(data) ? Files.size(data) : 0;
    if (offsets[offsets.length - 1] != dataBytes) {
      throw new IOException(
          index
              + " ends at "
              + offsets[offsets.length - 1]
              + ", but "
              + data
              + " has "
              + dataBytes
              + " bytes");
    }
    return MapOutput.ofOffsets(data, offsets);
  }

  private static long[] offsets(Path index, LongBuffer content) throws IOException {
    long[] offsets = new long[content.remaining()];
    content.get(offsets);
    for (int i = 0; i < offsets.length; i++) {
      if (i == 0 ? offsets[0] != 0 : offsets[i] < offsets[i - 1]) {
        throw new IOException(index + ": offset " + i + " is " + offsets[i] + ", out of order");
      }
    }
    return offsets;
  }
}
