package org.apache.hadoop.mapreduce.task.reduce;

import java.io.IOException;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.Task;
import org.apache.hadoop.mapred.TaskUmbilicalProtocol;

/** The plugin, with something wrong around it. */
abstract class FaultyShuffle<K, V> implements ShuffleConsumerPlugin<K, V> {
  private final RdmaShuffle<K, V> real = new RdmaShuffle<>();

  /** What the plugin is given instead of Hadoop's context. */
  abstract Context<K, V> spoil(Context<K, V> context);

  @Override
  public void init(Context<K, V> context) {
    real.init(spoil(context));
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    return real.run();
  }

  @Override
  public void close() {
    real.close();
  }

  static boolean isFirstAttempt(Context<?, ?> context) {
    return context.getReduceId().getId() == 0;
  }

  /** The same but for task and reporter. */
  static <K, V> Context<K, V> replace(Context<K, V> from, Task task, Reporter reporter) {
    return replace(from, task, reporter, from.getUmbilical());
  }

  /** The same but for these. */
  static <K, V> Context<K, V> replace(
      Context<K, V> from, Task task, Reporter reporter, TaskUmbilicalProtocol umbilical) {
    return new Context<>(
        from.getReduceId(),
        from.getJobConf(),
        from.getLocalFS(),
        umbilical,
        from.getLocalDirAllocator(),
        reporter,
        from.getCodec(),
        from.getCombinerClass(),
        from.getCombineCollector(),
        from.getSpilledRecordsCounter(),
        from.getReduceCombineInputCounter(),
        from.getShuffledMapsCounter(),
        from.getReduceShuffleBytes(),
        from.getFailedShuffleCounter(),
        from.getMergedMapOutputsCounter(),
        from.getStatus(),
        from.getCopyPhase(),
        from.getMergePhase(),
        task,
        from.getMapOutputFile(),
        from.getLocalMapFiles());
  }
}
