package io.rdmashuffle.spark;

/** Hears of every map output that a writer of this process has committed. On the task's thread. */
@FunctionalInterface
interface CommitListener {
  /**
   * @param lengths of the partitions; belongs to the caller
   */
  void onCommit(int shuffleId, long mapId, long[] lengths);
}
