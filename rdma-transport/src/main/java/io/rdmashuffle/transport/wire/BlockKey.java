package io.rdmashuffle.transport.wire;

/**
 * Names a block at its owner. The owner's catalog gives the numbers their meaning.
 *
 * @param group the shuffle (Spark), 0 for MapReduce, where the job belongs to the connection; not
 *     negative
 * @param output the map output: Spark's map id, or map index and attempt in MapReduce; not negative
 * @param firstPartition the first reduce partition; not negative
 * @param endPartition behind the last one; above {@code firstPartition}
 */
public record BlockKey(int group, long output, int firstPartition, int endPartition) {
  /**
   * @throws IllegalArgumentException if a number is out of its range
   */
  public BlockKey {
    if (group < 0 || output < 0 || firstPartition < 0 || endPartition <= firstPartition) {
      throw new IllegalArgumentException(
          "block key " + group + "/" + output + "/" + firstPartition + "-" + endPartition);
    }
  }
}
