package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.it.app.LargeBlocksApplication;
import io.rdmashuffle.it.app.LargeBlocksResult;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Blocks that are large against an executor's heap, pool and overflow memory, read by several tasks
 * of one executor at a time: the job passes wherever it does with Spark's own shuffle.
 */
final class LargeBlocksIT {
  private static final int EXECUTORS = 2;
  private static final int CASES = 12;
  private static final Duration LIMIT = Duration.ofMinutes(3);

  /** What overflow memory is bounded to outside containers. */
  private static final long OVERFLOW_BYTES = 256L << 20;

  /**
   * An executor, and what it is to do.
   *
   * @param cores tasks at a time
   * @param heap of the executor
   * @param registered as the setting's value; 0 for its default
   * @param jobs as the application takes them
   */
  private record Case(int cores, String heap, String registered, List<String> jobs) {
    /** Of one map per executor and seven tasks; sizes in kilobytes. */
    static Case random(Random random) {
      List<String> jobs = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        int kilobytes = pick(random, 60, 2_000, 30_000, 120_000);
        int maps = kilobytes < 1_000 ? 300 : pick(random, 1, 2, 4);
        jobs.add(maps + "x7x" + kilobytes / Math.min(maps, 4) + "x" + pick(random, 0, 0, 30));
      }
      return new Case(
          pick(random, 1, 2, 4),
          random.nextBoolean() ? "512m" : "1g",
          List.of("0", "8m", "64m", "2g").get(random.nextInt(4)),
          jobs);
    }

    private static int pick(Random random, int... values) {
      return values[random.nextInt(values.length)];
    }
  }

  private static LargeBlocksResult run(Case what, boolean stock) throws Exception {
    TestCluster cluster = TestCluster.fresh("large-blocks");
    SparkSubmit submit =
        cluster
            .submit(LargeBlocksApplication.class)
            .set("spark.executor.memory", what.heap)
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.shuffle.compress", "false")
            .set("spark.shuffle.reduceLocality.enabled", "false")
            .set("spark.task.maxFailures", "1")
            .driverOption("-Xmx512m");
    if (!stock) {
      submit
          .set("spark.shuffle.manager", "io.rdmashuffle.spark.RdmaShuffleManager")
          .set("spark.shuffle.rdma.device", "soft")
          .set("spark.shuffle.rdma.memory.registered.max", what.registered);
    }
    List<String> arguments = new ArrayList<>(List.of(cluster.resultFile().toString()));
    arguments.addAll(what.jobs);
    String master = "local-cluster[" + EXECUTORS + "," + what.cores + ",1024]";
    try (SparkSubmit.Run run =
        submit.start(master, arguments, cluster.stdout(), cluster.stderr())) {
      return cluster.result(run.await(LIMIT), LargeBlocksResult.class);
    }
  }

  private static void checkMemory(LargeBlocksResult result) {
    assertThat(result.overflowBytes).as("overflow memory").isLessThanOrEqualTo(OVERFLOW_BYTES);
    assertThat(result.fallbacks.keySet()).isSubsetOf("no-memory", "too-large");
  }

  /** Three of them at a time on one executor: its pool of 256 MiB has room for one. */
  @Test
  void sixBlocksOf190MegabytesPassOnAHeapOf512() throws Exception {
    LargeBlocksResult result = run(new Case(4, "512m", "2g", List.of("1x6x190000x0")), false);

    assertThat(result.partitions)
        .containsExactly(Collections.nCopies(6, "190 records of 190000000 bytes"));
    checkMemory(result);
    assertThat(result.copiedOut).as("to overflow memory").isPositive();
  }

  /** Four of them at a time, and each task holds heap; then many small ones. */
  @Test
  void eightBlocksOf190MegabytesPassOnAHeapOf1GigabyteThatTasksHold() throws Exception {
    LargeBlocksResult result =
        run(new Case(4, "1g", "2g", List.of("1x8x190000x100", "300x4x60x100")), false);

    assertThat(result.partitions)
        .containsExactly(
            Collections.nCopies(8, "190 records of 190000000 bytes"),
            Collections.nCopies(4, "300 records of 18000000 bytes"));
    checkMemory(result);
    assertThat(result.copiedOut).as("to overflow memory").isPositive();
  }

  /** The seed is in the name of each case; {@code -Dlargeblocks.seed} repeats one. */
  @TestFactory
  Stream<DynamicTest> generatedJobsPassWhereverTheyDoWithSparksOwnShuffle() {
    if (!Boolean.getBoolean("rdmashuffle.test.all")) {
      return Stream.of(); // the two above are the kinds that CI has time for
    }
    long first = Long.getLong("largeblocks.seed", System.nanoTime());
    return IntStream.range(0, CASES)
        .mapToObj(i -> first + i)
        .map(
            seed -> {
              Case what = Case.random(new Random(seed));
              return dynamicTest("seed " + seed + ": " + what, () -> passesAsStock(what));
            });
  }

  private static void passesAsStock(Case what) throws Exception {
    LargeBlocksResult stock;
    try {
      stock = run(what, true);
    } catch (AssertionError | IOException e) {
      System.out.println("not with Spark's own shuffle: " + what + ": " + e.getMessage());
      return;
    }
    LargeBlocksResult ours = run(what, false);
    assertThat(ours.partitions).isEqualTo(stock.partitions);
    checkMemory(ours);
  }
}
