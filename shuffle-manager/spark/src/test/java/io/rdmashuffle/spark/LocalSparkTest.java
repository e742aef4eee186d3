package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.testing.HeldNatives;
import io.rdmashuffle.transport.testing.SoftAdapter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;

/**
 * The manager inside a real Spark of one process: commits, removal, life. Blocks are local there
 * and never fetched; clusters are tested elsewhere.
 */
@Timeout(180) // starting Spark takes long where other builds run
final class LocalSparkTest {
  private static final int CONTEXTS = 200;

  private static JavaSparkContext start(Map<String, String> values) {
    SparkConf conf =
        new SparkConf(false)
            .setMaster("local[2]")
            .setAppName("LocalSparkTest")
            .set("spark.ui.enabled", "false")
            .set("spark.cleaner.referenceTracking", "false") // else the collector ends shuffles
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1")
            .set("spark.shuffle.manager", RdmaShuffleManager.class.getName())
            .set("spark.shuffle.sort.bypassMergeThreshold", "2")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
    values.forEach(conf::set);
    return new JavaSparkContext(conf);
  }

  private static JavaRDD<Integer> numbers(JavaSparkContext spark) {
    return spark.parallelize(IntStream.range(0, 3000).boxed().toList(), 3);
  }

  private static RdmaShuffleReport report() {
    return RdmaShuffleReport.collect().orElseThrow();
  }

  /** Sort, aggregation, and each of Spark's three writers. */
  private static void runJobs(JavaSparkContext spark) {
    List<Tuple2<Integer, Integer>> counts =
        numbers(spark)
            .mapToPair(x -> new Tuple2<>(x % 10, 1))
            .reduceByKey(Integer::sum, 4)
            .sortByKey(true, 3)
            .collect();
    assertThat(counts.stream().map(Tuple2::_1).toList())
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    assertThat(counts).allMatch(t -> t._2() == 300);
    assertThat(
            numbers(spark).mapToPair(x -> new Tuple2<>(x % 10, x)).groupByKey(6).values().count())
        .isEqualTo(10);
    assertThat(numbers(spark).repartition(2).count()).isEqualTo(3000);
  }

  @Test
  void outputsOfAllWritersAreKnownUntilTheirShuffleIsGone() throws IOException {
    SoftAdapter.require();
    try (JavaSparkContext spark = start(Map.of("spark.shuffle.rdma.device", "soft"))) {
      JavaPairRDD<Integer, Integer> pairs = numbers(spark).mapToPair(x -> new Tuple2<>(x, x));
      JavaPairRDD<Integer, Iterable<Integer>> unsafeWriter = pairs.groupByKey(6);
      assertThat(unsafeWriter.count()).isEqualTo(3000);
      assertThat(report().device()).contains("soft0");
      assertThat(report().level("outputs.catalogued")).isEqualTo(3);
      assertThat(pairs.partitionBy(new HashPartitioner(2)).count())
          .as("by the bypass writer")
          .isEqualTo(3000);
      assertThat(report().level("outputs.catalogued")).isEqualTo(6);
      assertThat(pairs.reduceByKey(Integer::sum, 4).count())
          .as("by the sort writer")
          .isEqualTo(3000);
      assertThat(report().level("outputs.catalogued")).isEqualTo(9);
      for (int shuffle = 0; shuffle < 3; shuffle++) {
        SparkEnv.get().shuffleManager().unregisterShuffle(shuffle);
      }
      assertThat(report().level("outputs.catalogued")).isZero();
      runJobs(spark);
    }
    assertThat(RdmaShuffleReport.collect()).as("after the stop").isEmpty();
    assertThat(threadsOfOurs()).isEmpty();
    assertThat(Files.readAllLines(Path.of("/proc/self/maps")))
        .as("mappings of map outputs")
        .noneMatch(line -> line.contains("/shuffle_"));
  }

  @Test
  void withoutADeviceJobsRunAndTheReportSaysWhy() {
    try (JavaSparkContext spark = start(Map.of("spark.shuffle.rdma.device", "mlx9_7"))) {
      runJobs(spark);
      assertThat(report().device()).isEmpty();
      assertThat(report().absence()).isNotBlank();
      assertThat(report().level("outputs.catalogued")).isZero();
    }
    assertThat(threadsOfOurs()).isEmpty();
  }

  @Test
  void switchedOffItIsSparksOwnShuffle() {
    try (JavaSparkContext spark = start(Map.of("spark.shuffle.rdma.mode", "off"))) {
      runJobs(spark);
      assertThat(report().absence()).isEqualTo("spark.shuffle.rdma.mode=off");
      SparkConf off = spark.getConf();
      assertThat(RdmaShuffleDataIO.inject(off)).as("nothing sees commits").isSameAs(off);
      assertThat(threadsOfOurs()).isEmpty();
    }
  }

  @Test
  void requiredWithoutADeviceFailsTheJobWithTheReason() {
    Map<String, String> required =
        Map.of("spark.shuffle.rdma.mode", "required", "spark.shuffle.rdma.device", "mlx9_7");
    try (JavaSparkContext spark = start(required)) {
      assertThatThrownBy(() -> runJobs(spark))
          .hasMessageContaining("spark.shuffle.rdma.mode=required, but this process has no RDMA");
    }
  }

  @Test
  void wrongSettingStopsTheStart() {
    assertThatThrownBy(() -> start(Map.of("spark.shuffle.rdma.read.window", "1k")))
        .hasStackTraceContaining("spark.shuffle.rdma.read.window=1k is outside 64 KiB to 1 GiB");
    assertThat(threadsOfOurs()).isEmpty();
  }

  @Test
  @Timeout(600)
  void oneContextAfterTheOtherLeavesNothingBehind() throws IOException {
    SoftAdapter.require();
    HeldNatives afterTen = null;
    for (int i = 1; i <= CONTEXTS; i++) {
      try (JavaSparkContext spark = start(Map.of("spark.shuffle.rdma.device", "soft"))) {
        assertThat(numbers(spark).mapToPair(x -> new Tuple2<>(x, x)).groupByKey(2).count())
            .isEqualTo(3000);
        assertThat(report().device()).contains("soft0");
      }
      if (i == 10) {
        afterTen = HeldNatives.afterCollection(HeldNatives.now());
      }
    }
    HeldNatives afterAll = HeldNatives.afterCollection(afterTen);

    assertThat(afterAll.isWithin(afterTen)).as("%s, after ten %s", afterAll, afterTen).isTrue();
  }

  private static List<String> threadsOfOurs() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.contains("rdma") || name.contains("executor driver"))
        .toList();
  }
}
