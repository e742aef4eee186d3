package io.rdmashuffle.benchmarks.workload;

import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.executor.ShuffleReadMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;

/** Adds up what Spark's own task metrics say about remote shuffle blocks. Any thread. */
final class RemoteReads extends SparkListener {
  private final LongAdder blocks = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    if (end.taskMetrics() != null) {
      ShuffleReadMetrics read = end.taskMetrics().shuffleReadMetrics();
      blocks.add(read.remoteBlocksFetched());
      bytes.add(read.remoteBytesRead());
    }
  }

  long blocks() {
    return blocks.sum();
  }

  long bytes() {
    return bytes.sum();
  }
}
