package org.apache.hadoop.mapreduce.task.reduce;

import io.rdmashuffle.mapreduce.reduce.ReduceGate;
import io.rdmashuffle.mapreduce.reduce.ReduceSession;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;

/**
 * Fetches map outputs by RDMA: the class of {@code
 * mapreduce.job.reduce.shuffle.consumer.plugin.class}. Where RDMA cannot be used it is Hadoop's own
 * {@code Shuffle}; what RDMA does not deliver, Hadoop's own fetcher does.
 *
 * <p><b>Threads:</b> the reduce task's. <b>Ownership:</b> Hadoop does not close a plugin whose run
 * failed, so that everything of RDMA is opened and given back within {@link #run}. <b>Errors:</b>
 * those of {@code Shuffle}; RDMA adds none.
 */
public final class RdmaShuffle<K, V> implements ShuffleConsumerPlugin<K, V> {
  private final ReduceGate gate;
  private ShuffleConsumerPlugin.Context<K, V> context;
  private Shuffle<K, V> stock;

  /** Called by Hadoop. */
  public RdmaShuffle() {
    this(ReduceGate.system());
  }

  RdmaShuffle(ReduceGate gate) {
    this.gate = gate;
  }

  @Override
  public void init(ShuffleConsumerPlugin.Context<K, V> reduceContext) {
    context = reduceContext;
  }

  @Override
  public RawKeyValueIterator run() throws IOException, InterruptedException {
    Optional<ReduceSession> opened = open();
    if (opened.isEmpty()) {
      stock = new Shuffle<>();
      stock.init(context);
      return stock.run();
    }
    CopyPhase<K, V> phase;
    try (ReduceSession session = opened.get()) {
      phase = new CopyPhase<>(context, session);
      phase.copy();
    }
    return phase.merge();
  }

  /** Decides first: what this plugin builds starts threads. */
  private Optional<ReduceSession> open() throws InterruptedException {
    ReduceGate.Task task =
        new ReduceGate.Task(
            context.getJobConf(),
            context.getReduceId(),
            context.getReduceTask().getShuffleSecret(),
            (name, count) ->
                context.getReporter().getCounter(ReduceGate.COUNTERS, name).increment(count));
    return context.getLocalMapFiles() != null ? gate.mapsAreLocal(task) : gate.open(task);
  }

  @Override
  public void close() {
    if (stock != null) {
      stock.close();
    }
  }
}
