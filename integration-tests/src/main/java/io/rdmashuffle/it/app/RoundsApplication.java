package io.rdmashuffle.it.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.cluster.ExecutorReports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Repeats one shuffle of incompressible records and prints {@code ROUND n} after each, while a test
 * does things to its executors, and {@code STOPPED} when Spark has stopped. Arguments: the file to
 * write, rounds, executors, megabytes, for how many seconds the first task that reads stops another
 * executor before anybody has asked that one anything (0: it does not), and the rounds in which
 * tasks wait at a {@link Halt} after their first record.
 *
 * <p>With 0 rounds it reads the same map outputs again and again until the file to write with
 * {@link #ENOUGH} behind its name exists, and then until a round had blocks by RDMA.
 */
public final class RoundsApplication {
  public static final String ENOUGH = ".enough";

  private static final long RDMA_LIMIT_NS = TimeUnit.SECONDS.toNanos(30);
  private static final int MAPS = 6;
  private static final int REDUCES = 6;
  private static final int RECORD_BYTES = 4_000;

  private RoundsApplication() {}

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[1]);
    int executors = Integer.parseInt(arguments[2]);
    int records = Integer.parseInt(arguments[3]) * 1_000_000 / RECORD_BYTES / MAPS;
    int standstillSeconds = Integer.parseInt(arguments[4]);
    List<String> halts = List.of(arguments).subList(5, arguments.length);
    SparkSession spark = SparkSession.builder().getOrCreate();
    try {
      TaskFailures failures = new TaskFailures();
      spark.sparkContext().addSparkListener(failures);
      RoundsResult result = new RoundsResult();
      ExecutorReports beforeLast = ExecutorReports.collect(spark, executors); // all are there
      if (rounds == 0) {
        beforeLast = readAgain(spark, shuffle(spark, records), arguments, result);
      }
      for (int round = 0; round < rounds; round++) {
        if (round == rounds - 1) {
          beforeLast = ExecutorReports.collect(spark, executors);
        }
        Halt halt = halts.contains("" + round) ? new Halt(Path.of(arguments[0]), round) : null;
        round(spark, shuffle(spark, records), round == 0 ? standstillSeconds : 0, halt, result);
      }
      ExecutorReports reports = ExecutorReports.collect(spark, executors);
      result.taskFailures.addAll(failures.texts());
      result.blocks = reports.blocks();
      result.lastRound = ExecutorReports.difference(reports.blocks(), beforeLast.blocks());
      result.fallbacks = reports.fallbacks();
      new ObjectMapper().writeValue(Path.of(arguments[0]).toFile(), result);
    } finally {
      spark.stop();
      System.out.println("STOPPED");
    }
  }

  /** Returns the reports from before the last rounds. */
  private static ExecutorReports readAgain(
      SparkSession spark,
      JavaPairRDD<Integer, byte[]> shuffle,
      String[] arguments,
      RoundsResult result) {
    int executors = Integer.parseInt(arguments[2]);
    Path enough = Path.of(arguments[0] + ENOUGH);
    while (!Files.exists(enough)) {
      round(spark, shuffle, 0, null, result);
    }
    ExecutorReports before = ExecutorReports.collect(spark, executors);
    long deadlineNs = System.nanoTime() + RDMA_LIMIT_NS;
    boolean byRdma = false;
    while (!byRdma && System.nanoTime() < deadlineNs) {
      round(spark, shuffle, 0, null, result);
      byRdma =
          ExecutorReports.difference(
                  ExecutorReports.collect(spark, executors).blocks(), before.blocks())
              .entrySet()
              .stream()
              .anyMatch(way -> !way.getKey().equals("netty") && way.getValue() > 0);
    }
    return before;
  }

  private static JavaPairRDD<Integer, byte[]> shuffle(SparkSession spark, int records) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    List<Integer> maps = IntStream.range(0, MAPS).boxed().toList();
    return context
        .parallelize(maps, MAPS)
        .flatMapToPair(
            map ->
                IntStream.range(0, records)
                    .mapToObj(
                        i -> new Tuple2<>(i, Digest.bytes(map * 1_000_003L + i, RECORD_BYTES)))
                    .iterator())
        .partitionBy(new HashPartitioner(REDUCES));
  }

  private static void round(
      SparkSession spark,
      JavaPairRDD<Integer, byte[]> shuffle,
      int standstillSeconds,
      Halt halt, // null: none
      RoundsResult result) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    // Computed before what it is zipped with, so the standstill begins before the first fetch.
    JavaRDD<Object> before =
        context
            .parallelize(List.of(), REDUCES)
            .mapPartitionsWithIndex(
                (partition, none) -> {
                  if (partition == 0 && standstillSeconds > 0) {
                    Standstill.ofAnotherExecutor(standstillSeconds);
                  }
                  return none;
                },
                true);
    result.digests.add(
        Digest.of(
            before
                .zipPartitions(
                    shuffle, (none, shuffled) -> List.of(summary(shuffled, halt)).iterator())
                .collect()));
    System.out.println("ROUND " + (result.digests.size() - 1));
  }

  private static String summary(Iterator<Tuple2<Integer, byte[]>> records, Halt halt)
      throws IOException {
    long count = 0;
    long sum = 0;
    while (records.hasNext()) {
      Tuple2<Integer, byte[]> record = records.next();
      count++;
      sum += Digest.crc(record._2()) * (record._1() + 1L);
      if (count == 1 && halt != null) {
        halt.await(TaskContext.getPartitionId());
      }
    }
    return count + " records, sum " + sum;
  }
}
