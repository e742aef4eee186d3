package io.rdmashuffle.it.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.cluster.ExecutorReports;
import io.rdmashuffle.spark.RdmaShuffleReport;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.scheduler.MapStatus;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.BlockManagerId;
import scala.Tuple2;

/**
 * The same shuffle several times, each time disturbed in another of the ways in which Spark repeats
 * work. Arguments: the file to write, the number of executors.
 */
public final class RetriesApplication {
  private static final int MAPS = 6;
  private static final int REDUCES = 6;
  private static final int RECORDS = 300;
  private static final int RECORD_BYTES = 10_000;
  private static final long SLOW_NS = TimeUnit.SECONDS.toNanos(20);

  private final SparkSession spark;
  private final JavaSparkContext context;
  private final RetriesResult result = new RetriesResult();

  private RetriesApplication(SparkSession spark) {
    this.spark = spark;
    this.context = JavaSparkContext.fromSparkContext(spark.sparkContext());
  }

  public static void main(String[] arguments) throws Exception {
    SparkSession spark = SparkSession.builder().getOrCreate();
    try {
      RetriesApplication application = new RetriesApplication(spark);
      application.run(Integer.parseInt(arguments[1]));
      new ObjectMapper().writeValue(Path.of(arguments[0]).toFile(), application.result);
    } finally {
      spark.stop();
    }
  }

  private void run(int executors) throws Exception {
    long records = (long) MAPS * RECORDS;
    result.expected = records + " records, sum " + records * (records - 1) / 2;
    ExecutorReports.collect(spark, executors); // all are there, and have run a task
    phase("mixed", () -> sum(shuffled(false), RetriesApplication::readWithChildren));
    for (RdmaShuffleReport report : ExecutorReports.collect(spark, executors).reports()) {
      result.executors.add(executorOf(report));
    }
    phase("stage-retry", this::stageRetry);
    phase("speculation", () -> sum(shuffled(true), RetriesApplication::readSlowlyAtFirst));
    phase("removed", this::removedWhileRead);
  }

  private static RetriesResult.Executor executorOf(RdmaShuffleReport report) {
    RetriesResult.Executor executor = new RetriesResult.Executor();
    executor.id = report.executorId();
    executor.device = report.device();
    executor.fallbacks.putAll(report.fallbackBlocks());
    for (String way : List.of("read", "inline", "staged")) {
      executor.blocksByRdma += report.counter("blocks." + way);
    }
    return executor;
  }

  private interface Phase {
    String run() throws Exception;
  }

  private void phase(String name, Phase body) throws Exception {
    TaskFailures failures = new TaskFailures();
    spark.sparkContext().addSparkListener(failures);
    result.digests.put(name, body.run());
    spark.sparkContext().listenerBus().waitUntilEmpty(30_000);
    spark.sparkContext().removeSparkListener(failures);
    result.failures.put(name, failures.texts());
    result.speculative.put(name, failures.speculative());
    System.out.println(name + ": " + result.digests.get(name) + ", " + failures.texts());
  }

  // ---- the shuffle

  private JavaPairRDD<Integer, byte[]> shuffled(boolean slowMap) {
    return context
        .parallelize(IntStream.range(0, MAPS).boxed().toList(), MAPS)
        .flatMapToPair(
            map -> {
              if (slowMap && map == 0 && TaskContext.get().attemptNumber() == 0) {
                waitUnlessKilled(SLOW_NS);
              }
              return IntStream.range(map * RECORDS, (map + 1) * RECORDS)
                  .mapToObj(i -> new Tuple2<>(i, Record.of(i, RECORD_BYTES)))
                  .iterator();
            })
        .partitionBy(new HashPartitioner(REDUCES));
  }

  private static String sum(
      JavaPairRDD<Integer, byte[]> shuffled,
      Function2<Integer, Iterator<Tuple2<Integer, byte[]>>, Iterator<Tuple2<Long, Long>>> read) {
    Tuple2<Long, Long> all =
        shuffled
            .mapPartitionsWithIndex(read, true)
            .reduce((a, b) -> new Tuple2<>(a._1() + b._1(), a._2() + b._2()));
    return all._1() + " records, sum " + all._2();
  }

  private static Iterator<Tuple2<Long, Long>> readAll(Iterator<Tuple2<Integer, byte[]>> records) {
    long count = 0;
    long sum = 0;
    while (records.hasNext()) {
      count++;
      sum += Record.seed(records.next()._2());
    }
    return List.of(new Tuple2<>(count, sum)).iterator();
  }

  private static void waitUnlessKilled(long waitNs) {
    long deadlineNs = System.nanoTime() + waitNs;
    while (System.nanoTime() < deadlineNs && !TaskContext.get().isInterrupted()) {
      LockSupport.parkNanos(1_000_000);
    }
  }

  // ---- the phases

  /** Forks children of the executor while blocks arrive. */
  private static Iterator<Tuple2<Long, Long>> readWithChildren(
      int partition, Iterator<Tuple2<Integer, byte[]>> records) throws Exception {
    Process first = new ProcessBuilder("/bin/true").start();
    Iterator<Tuple2<Long, Long>> sum = readAll(records);
    Process second = new ProcessBuilder("/bin/true").start();
    if (first.waitFor() + second.waitFor() != 0) {
      throw new IllegalStateException("a child failed");
    }
    return sum;
  }

  /** One record, then nothing until a second attempt overtakes it. */
  private static Iterator<Tuple2<Long, Long>> readSlowlyAtFirst(
      int partition, Iterator<Tuple2<Integer, byte[]>> records) {
    if (partition != 1 || TaskContext.get().attemptNumber() > 0) {
      return readAll(records);
    }
    long first = Record.seed(records.next()._2());
    waitUnlessKilled(SLOW_NS);
    Tuple2<Long, Long> rest = readAll(records).next();
    return List.of(new Tuple2<>(rest._1() + 1, rest._2() + first)).iterator();
  }

  /**
   * A reducer reports that it could not fetch from an executor that is alive and well: Spark
   * forgets all outputs of that executor and makes them again, and the old ones are still served
   * there.
   */
  private String stageRetry() {
    JavaPairRDD<Integer, byte[]> shuffled = shuffled(false);
    shuffled.count(); // the map stage is done now, and will not run unless it must
    int shuffleId = shuffleId(shuffled);
    MapStatus lost = firstOutput(shuffleId);
    BlockManagerId location = lost.location();
    long mapId = lost.mapId();
    return sum(
        shuffled,
        (partition, records) -> {
          if (partition == 0 && TaskContext.get().stageAttemptNumber() == 0) {
            records.next();
            throw new FetchFailedException(
                location, shuffleId, mapId, 0, partition, "failed on purpose", null);
          }
          return readAll(records);
        });
  }

  /**
   * The shuffle is unregistered on every executor, and its files deleted, while reducers there and
   * elsewhere are in the middle of them; the driver learns of it when fetches fail.
   */
  private String removedWhileRead() {
    JavaPairRDD<Integer, byte[]> shuffled = shuffled(false);
    shuffled.count();
    int shuffleId = shuffleId(shuffled);
    return sum(
        shuffled,
        (partition, records) -> {
          if (TaskContext.get().stageAttemptNumber() > 0) {
            return readAll(records);
          }
          long first = Record.seed(records.next()._2());
          SparkEnv.get().shuffleManager().unregisterShuffle(shuffleId);
          Tuple2<Long, Long> rest = readAll(records).next();
          return List.of(new Tuple2<>(rest._1() + 1, rest._2() + first)).iterator();
        });
  }

  private static int shuffleId(JavaPairRDD<Integer, byte[]> shuffled) {
    return ((ShuffleDependency<?, ?, ?>) shuffled.rdd().dependencies().head()).shuffleId();
  }

  private static MapStatus firstOutput(int shuffleId) {
    MapOutputTrackerMaster tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    return tracker.shuffleStatuses().apply(shuffleId).mapStatuses()[0];
  }
}
