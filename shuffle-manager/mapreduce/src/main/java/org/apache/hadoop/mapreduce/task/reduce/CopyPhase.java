package org.apache.hadoop.mapreduce.task.reduce;

import io.rdmashuffle.mapreduce.reduce.ReduceSession;
import io.rdmashuffle.transport.NanoClock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RawKeyValueIterator;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.apache.hadoop.mapred.TaskStatus;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * What Hadoop's {@code Shuffle} does, with fetchers of another kind: its own offers no hook to make
 * them. Scheduler, event fetcher and merge manager are Hadoop's.
 *
 * <p>One thread, the reduce task's; others only report errors.
 */
final class CopyPhase<K, V> implements ExceptionReporter {
  private static final int PROGRESS_MS = 2000;
  private static final int FETCHERS = 5; // as Hadoop's Shuffle, if not set

  /** As Hadoop's Shuffle: bounds what all reducers together ask of the AM at once. */
  private static final int ALL_REDUCERS_EVENTS = 3_000_000;

  private static final int MOST_EVENTS = 10_000;
  private static final int FEWEST_EVENTS = 100;

  private final ShuffleConsumerPlugin.Context<K, V> context;
  private final ReduceSession session;
  private final ShuffleSchedulerImpl<K, V> scheduler;
  private final MergeManager<K, V> merger;
  private final EventFetcher<K, V> events;
  private final List<RdmaFetcher<K, V>> fetchers = new ArrayList<>();
  private Throwable error;
  private String failedThread;

  /** Starts Hadoop's referee and mergers. */
  CopyPhase(ShuffleConsumerPlugin.Context<K, V> context, ReduceSession session) {
    this.context = context;
    this.session = session;
    JobConf conf = context.getJobConf();
    ShuffleClientMetrics metrics = ShuffleClientMetrics.create(context.getReduceId(), conf);
    scheduler =
        new ShuffleSchedulerImpl<>(
            conf,
            context.getStatus(),
            context.getReduceId(),
            this,
            context.getCopyPhase(),
            context.getShuffledMapsCounter(),
            context.getReduceShuffleBytes(),
            context.getFailedShuffleCounter());
    merger = createMerger(conf);
    int mostEvents =
        Math.min(
            MOST_EVENTS,
            Math.max(FEWEST_EVENTS, ALL_REDUCERS_EVENTS / Math.max(1, conf.getNumReduceTasks())));
    events =
        new EventFetcher<>(
            context.getReduceId(), context.getUmbilical(), scheduler, this, mostEvents);
    CopyParts<K, V> parts =
        new CopyParts<>(context, scheduler, merger, metrics, this, session, NanoClock.system());
    int count = conf.getInt(MRJobConfig.SHUFFLE_PARALLEL_COPIES, FETCHERS);
    for (int i = 0; i < count; i++) {
      fetchers.add(new RdmaFetcher<>(parts));
    }
  }

  private MergeManager<K, V> createMerger(JobConf conf) {
    return new MergeManagerImpl<>(
        context.getReduceId(),
        conf,
        context.getLocalFS(),
        context.getLocalDirAllocator(),
        context.getReporter(),
        context.getCodec(),
        context.getCombinerClass(),
        context.getCombineCollector(),
        context.getSpilledRecordsCounter(),
        context.getReduceCombineInputCounter(),
        context.getMergedMapOutputsCounter(),
        this,
        context.getMergePhase(),
        context.getMapOutputFile());
  }

  /** Copies all map outputs. Afterwards no thread uses the session, whether it throws or not. */
  void copy() throws IOException, InterruptedException {
    try {
      events.start();
      fetchers.forEach(Thread::start);
      while (!scheduler.waitUntilDone(PROGRESS_MS)) {
        context.getReporter().progress();
        throwError();
      }
    } finally {
      stop();
    }
    session
        .counters()
        .finish(
            context.getShuffledMapsCounter().getValue(),
            context.getReduceShuffleBytes().getValue());
  }

  /** All at once first: else each waits for the one before. */
  private void stop() throws InterruptedException {
    events.interrupt();
    fetchers.forEach(Thread::interrupt);
    events.shutDown();
    for (RdmaFetcher<K, V> fetcher : fetchers) {
      fetcher.shutDown();
    }
    scheduler.close();
  }

  /** Merges them. */
  RawKeyValueIterator merge() throws IOException, InterruptedException {
    context.getCopyPhase().complete();
    context.getStatus().setPhase(TaskStatus.Phase.SORT);
    context.getReduceTask().statusUpdate(context.getUmbilical());
    RawKeyValueIterator merged;
    try {
      merged = merger.close();
    } catch (Throwable e) { // which is what it declares
      throw new Shuffle.ShuffleError("Error while doing final merge ", e);
    }
    throwError();
    return merged;
  }

  @Override
  public synchronized void reportException(Throwable cause) { // as Hadoop's Shuffle
    if (error == null) {
      error = cause;
      failedThread = Thread.currentThread().getName();
      synchronized (scheduler) {
        scheduler.notifyAll();
      }
    }
  }

  private synchronized void throwError() throws IOException {
    if (error != null) {
      throw new Shuffle.ShuffleError("error in shuffle in " + failedThread, error);
    }
  }
}
