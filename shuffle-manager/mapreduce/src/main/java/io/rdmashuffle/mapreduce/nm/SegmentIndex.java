package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import java.io.IOException;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.SpillRecord;

/** Where the segments of one map output lie, every number checked. Immutable, any thread. */
final class SegmentIndex {
  private static final int NUMBERS = 3; // per segment: start, raw length, part length

  private final OutputFile file;
  private final long[] numbers;

  private SegmentIndex(OutputFile file, long[] numbers) {
    this.file = file;
    this.numbers = numbers;
  }

  /**
   * @param file as it is on disk
   * @throws IOException if a segment leaves the file
   */
  static SegmentIndex of(OutputFile file, SpillRecord spill) throws IOException {
    long[] numbers = new long[Math.multiplyExact(spill.size(), NUMBERS)];
    for (int reduce = 0; reduce < spill.size(); reduce++) {
      IndexRecord segment = spill.getIndex(reduce);
      boolean inside =
          segment.startOffset >= 0
              && segment.partLength >= 0
              && segment.rawLength >= 0
              && segment.startOffset <= file.bytes() - segment.partLength;
      if (!inside) {
        throw new IOException(
            "segment "
                + reduce
                + " of "
                + file
                + " lies at "
                + segment.startOffset
                + " with "
                + segment.partLength
                + " bytes, "
                + segment.rawLength
                + " raw");
      }
      numbers[reduce * NUMBERS] = segment.startOffset;
      numbers[reduce * NUMBERS + 1] = segment.rawLength;
      numbers[reduce * NUMBERS + 2] = segment.partLength;
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
