package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import java.io.IOException;
import java.util.Locale;

/** Where the segments of one map output lie, every number checked. Immutable, any thread. */
final class SegmentIndex {
  private static final int NUMBERS = SpillIndex.NUMBERS;

  private final OutputFile file;
  private final long[] numbers;

  private SegmentIndex(OutputFile file, long[] numbers) {
    this.file = file;
    this.numbers = numbers;
  }

  /**
   * @param file as it is on disk
   * @param numbers as {@link SpillIndex} reads them; kept
   * @throws IOException if a segment leaves the file
   */
  static SegmentIndex of(OutputFile file, long[] numbers) throws IOException {
    for (int at = 0; at < numbers.length; at += NUMBERS) {
      long startBytes = numbers[at];
      long rawBytes = numbers[at + 1];
      long partBytes = numbers[at + 2];
      boolean inside =
          startBytes >= 0
              && partBytes >= 0
              && rawBytes >= 0
              && startBytes <= file.bytes() - partBytes;
      if (!inside) {
        throw new IOException(
            String.format(
                Locale.ROOT,
                "segment %d of %s lies at %d with %d bytes, %d raw",
                at / NUMBERS,
                file,
                startBytes,
                partBytes,
                rawBytes));
      }
    }
    return new SegmentIndex(file, numbers);
  }

  /**
   * The same index of a file that was found before.
   *
   * @throws IOException if it was another file then
   */
  SegmentIndex in(OutputFile known) throws IOException {
    if (!known.isAs(file)) {
      throw new IOException(file + " is not what was served before: " + known);
    }
    return new SegmentIndex(known, numbers);
  }

  OutputFile file() {
    return file;
  }

  /** Memory it takes, about. */
  long heapBytes() {
    return 128 + (long) numbers.length * Long.BYTES;
  }

  /**
   * A segment, with its raw length as the attribute.
   *
   * @return null if the map wrote none for that reduce
   */
  BlockLocation segment(int reduce) {
    if (reduce < 0 || reduce >= numbers.length / NUMBERS) {
      return null;
    }
    int at = reduce * NUMBERS;
    return new BlockLocation(file, numbers[at], numbers[at + 2], numbers[at + 1]);
  }
}
