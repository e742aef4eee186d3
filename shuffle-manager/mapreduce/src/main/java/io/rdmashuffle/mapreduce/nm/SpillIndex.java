package io.rdmashuffle.mapreduce.nm;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32;

/**
 * Reads the index of a map output as Hadoop's SpillRecord writes it: three longs for each segment
 * (start, raw length, part length), then the CRC-32 of them all in another long. Its own reader
 * opens it by its name, believes any length, and takes several times as long.
 */
final class SpillIndex {
  /** Longs for each segment. */
  static final int NUMBERS = 3;

  private static final int SEGMENT_BYTES = NUMBERS * Long.BYTES;

  /** Of an index: more than two million reduces. */
  private static final long LONGEST_BYTES = 64L << 20;

  private SpillIndex() {}

  /**
   * @param held leads to it
   * @param file its name, for what is said of it
   * @return {@link #NUMBERS} for each segment, none of them checked
   * @throws IOException if it is no such file, or damaged
   */
  static long[] read(Path held, Path file) throws IOException {
    try (SeekableByteChannel in = Files.newByteChannel(held, StandardOpenOption.READ)) {
      ByteBuffer bytes = ByteBuffer.allocate(wholeBytes(file, in.size()));
      while (bytes.hasRemaining()) {
        if (in.read(bytes) < 0) {
          throw new EOFException(file + " became shorter while it was read");
        }
      }
      return numbersIn(file, bytes.flip());
    }
  }

  private static int wholeBytes(Path file, long bytes) throws IOException {
    boolean whole = bytes > Long.BYTES && (bytes - Long.BYTES) % SEGMENT_BYTES == 0;
    if (!whole || bytes > LONGEST_BYTES) {
      throw new IOException(file + " of " + bytes + " bytes is no index of a map output");
    }
    return (int) bytes;
  }

  private static long[] numbersIn(Path file, ByteBuffer bytes) throws IOException {
    int checkedBytes = bytes.limit() - Long.BYTES;
    CRC32 crc = new CRC32();
    crc.update(bytes.array(), 0, checkedBytes);
    if (crc.getValue() != bytes.getLong(checkedBytes)) {
      throw new IOException("the checksum of " + file + " is wrong");
    }
    long[] numbers = new long[checkedBytes / Long.BYTES];
    bytes.asLongBuffer().get(numbers);
    return numbers;
  }
}
