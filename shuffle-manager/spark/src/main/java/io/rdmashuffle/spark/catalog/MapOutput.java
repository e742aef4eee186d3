package io.rdmashuffle.spark.catalog;

import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import java.nio.file.Path;

/** One committed map output: its file and where its partitions lie. Immutable. */
public final class MapOutput {
  private final OutputFile file;
  private final PartitionOffsets offsets;

  private MapOutput(Path dataFile, PartitionOffsets offsets) {
    this.file = new OutputFile(dataFile, offsets.totalBytes());
    this.offsets = offsets;
  }

  /**
   * @param lengths of the partitions, in order
   * @throws IllegalArgumentException if a length is negative
   */
  public static MapOutput ofLengths(Path dataFile, long[] lengths) {
    return new MapOutput(dataFile, PartitionOffsets.ofLengths(lengths));
  }

  /** Takes over n + 1 ascending offsets, beginning with 0. */
  static MapOutput ofOffsets(Path dataFile, long[] offsets) {
    return new MapOutput(dataFile, PartitionOffsets.of(offsets));
  }

  public OutputFile file() {
    return file;
  }

  public int partitions() {
    return offsets.partitions();
  }

  /**
   * The range of some neighbouring partitions.
   *
   * @return null if there are no such partitions
   */
  BlockLocation locate(int firstPartition, int endPartition) {
    if (endPartition > offsets.partitions()) {
      return null;
    }
    long from = offsets.offsetBytes(firstPartition);
    return new BlockLocation(file, from, offsets.offsetBytes(endPartition) - from);
  }
}
