package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.it.app.RetriesApplication;
import io.rdmashuffle.it.app.RetriesResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Spark repeats work for its own reasons. One cluster of two hosts, one executor of which has no
 * RDMA; each test looks at another phase of the application.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class RetriesIT {
  private static final int EXECUTORS = 3;
  private static final String WITHOUT_RDMA = "2";

  private RetriesResult result;

  @BeforeAll
  void runTheApplication() throws Exception {
    TestCluster cluster = TestCluster.fresh("retries");
    SparkSubmit submit =
        cluster
            .submit(RetriesApplication.class)
            .set("spark.executor.memory", "512m")
            .set("spark.executor.cores", "1")
            .set("spark.cores.max", String.valueOf(EXECUTORS))
            .set("spark.shuffle.readHostLocalDisk", "false")
            .set("spark.shuffle.reduceLocality.enabled", "false") // each executor reads
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.shuffle.sort.bypassMergeThreshold", "1")
            .set("spark.shuffle.manager", "io.rdmashuffle.spark.RdmaShuffleManager")
            .set("spark.shuffle.rdma.device", "soft")
            .set("spark.shuffle.io.retryWait", "1s")
            .set("spark.reducer.maxSizeInFlight", "1m")
            .set("spark.stage.maxConsecutiveAttempts", "10")
            .set("spark.speculation", "true")
            .set("spark.speculation.multiplier", "1.5")
            .set("spark.speculation.quantile", "0.5")
            .set("spark.speculation.minTaskRuntime", "8s") // above any honest one
            .set("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "3s")
            .set("spark.executor.extraJavaOptions", optionsPerExecutor(cluster))
            .driverOption("-Xmx512m");
    List<String> arguments = List.of(cluster.resultFile().toString(), String.valueOf(EXECUTORS));
    try (StandaloneCluster hosts =
            StandaloneCluster.start(cluster.home(), cluster.home().folder().resolve("logs"))
                .worker("127.0.0.1", 2, 1024)
                .worker("127.0.0.2", 1, 512);
        SparkSubmit.Run run =
            submit.start(hosts.masterUrl(), arguments, cluster.stdout(), cluster.stderr())) {
      result = cluster.result(run.await(Duration.ofMinutes(8)), RetriesResult.class);
    }
  }

  /** Each executor reads a file of JVM options of its own; Spark puts its number into the name. */
  private static String optionsPerExecutor(TestCluster cluster) throws Exception {
    Path folder = Files.createDirectories(cluster.home().folder().resolve("options"));
    for (int id = 0; id < 20; id++) {
      boolean off = String.valueOf(id).equals(WITHOUT_RDMA);
      Files.writeString(
          folder.resolve(id + ".args"), off ? "-Dspark.shuffle.rdma.mode=off\n" : "\n");
    }
    return "@" + folder + "/{{EXECUTOR_ID}}.args";
  }

  private void assertRight(String phase) {
    assertThat(result.digests.get(phase)).as(phase).isEqualTo(result.expected);
    assertThat(result.failures.get(phase)).as(phase).noneMatch(OurFailures::isOurs);
  }

  @Test
  void onlyBlocksOfThePeerWithoutRdmaComeByNetty() {
    assertRight("mixed");
    assertThat(result.failures.get("mixed"))
        .allMatch(f -> f.contains("another attempt succeeded")); // on a slow machine
    assertThat(result.executors).hasSize(EXECUTORS);
    for (RetriesResult.Executor executor : result.executors) {
      if (executor.id.equals(WITHOUT_RDMA)) {
        assertThat(executor.device).isEmpty();
        assertThat(executor.blocksByRdma).isZero();
      } else {
        assertThat(executor.fallbacks).containsOnlyKeys("peer-without-rdma");
        assertThat(executor.blocksByRdma).isPositive();
      }
    }
  }

  @Test
  void aStageRetriedWhileTheOldExecutorLivesReadsEachOutputOnce() {
    assertRight("stage-retry");
    assertThat(result.failures.get("stage-retry")).anyMatch(f -> f.contains("on purpose"));
  }

  @Test
  void speculativeAttemptsChangeNoResult() {
    assertRight("speculation");
    assertThat(result.speculative.get("speculation")).isGreaterThanOrEqualTo(2);
  }

  @Test
  void aShuffleRemovedWhileItIsReadIsRepeated() {
    assertRight("removed");
    assertThat(result.failures.get("removed"))
        .as("blocks were really gone")
        .anyMatch(f -> f.contains("FetchFailed"));
  }
}
