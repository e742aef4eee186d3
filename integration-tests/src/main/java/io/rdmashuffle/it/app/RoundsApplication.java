package io.rdmashuffle.it.app;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.cluster.ExecutorReports;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.Tuple2;

/**
 * Repeats one shuffle of incompressible records and prints {@code ROUND n} after each, while a test
 * does things to its executors, and {@code STOPPED} when Spark has stopped. Arguments: the file to
 * write, rounds, executors, megabytes, and for how many seconds the first task that reads stops
 * another executor before anybody has asked that one anything (0: it does not).
 */
public final class RoundsApplication {
  private static final int MAPS = 6;
  private static final int REDUCES = 6;
  private static final int RECORD_BYTES = 4_000;

  private RoundsApplication() {}

  public static void main(String[] arguments) throws Exception {
    int rounds = Integer.parseInt(arguments[1]);
    int executors = Integer.parseInt(arguments[2]);
    int records = Integer.parseInt(arguments[3]) * 1_000_000 / RECORD_BYTES / MAPS;
    int standstillSeconds = Integer.parseInt(arguments[4]);
    SparkSession spark = SparkSession.builder().getOrCreate();
    try {
      TaskFailures failures = new TaskFailures();
      spark.sparkContext().addSparkListener(failures);
      RoundsResult result = new RoundsResult();
      ExecutorReports beforeLast = ExecutorReports.collect(spark, executors); // all are there
      for (int round = 0; round < rounds; round++) {
        if (round == rounds - 1) {
          beforeLast = ExecutorReports.collect(spark, executors);
        }
        result.digests.add(round(spark, records, round == 0 ? standstillSeconds : 0));
        System.out.println("ROUND " + round);
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

  private static String round(SparkSession spark, int records, int standstillSeconds) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    List<Integer> maps = IntStream.range(0, MAPS).boxed().toList();
    JavaPairRDD<Integer, byte[]> input =
        context
            .parallelize(maps, MAPS)
            .flatMapToPair(
                map ->
                    IntStream.range(0, records)
                        .mapToObj(
                            i -> new Tuple2<>(i, Digest.bytes(map * 1_000_003L + i, RECORD_BYTES)))
                        .iterator());
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
    return Digest.of(
        before
            .zipPartitions(
                input.partitionBy(new HashPartitioner(REDUCES)),
                (none, shuffled) -> List.of(summary(shuffled)).iterator())
            .collect());
  }

  private static String summary(Iterator<Tuple2<Integer, byte[]>> records) {
    long count = 0;
    long sum = 0;
    while (records.hasNext()) {
      Tuple2<Integer, byte[]> record = records.next();
      count++;
      sum += Digest.crc(record._2()) * (record._1() + 1L);
    }
    return count + " records, sum " + sum;
  }
}
