package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.benchmarks.workload.JobResult;
import io.rdmashuffle.it.app.ExecutorState;
import io.rdmashuffle.it.app.MemoryApplication;
import io.rdmashuffle.it.app.MemoryResult;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * One cluster whose executors have a pool of 8 MB and may register 64 MiB in all; each test looks
 * at another part of what happened there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MemoryIT {
  private static final int EXECUTORS = 2;
  private static final int MEGABYTES = 40;
  private static final long REGISTERED_BYTES = 64 << 20;

  private MemoryResult result;
  private String driverLog;

  @BeforeAll
  void runTheApplication() throws Exception {
    TestCluster cluster = TestCluster.fresh("memory");
    SparkSubmit submit =
        cluster
            .submit(MemoryApplication.class)
            .set("spark.executor.memory", "1g")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.shuffle.sort.bypassMergeThreshold", "1")
            .set("spark.shuffle.compress", "false")
            .set("spark.sql.shuffle.partitions", "6")
            .set("spark.sql.adaptive.enabled", "false")
            .set("spark.shuffle.manager", "io.rdmashuffle.spark.RdmaShuffleManager")
            .set("spark.shuffle.rdma.device", "soft")
            .set("spark.shuffle.rdma.pool.size", "8m")
            .set("spark.shuffle.rdma.memory.registered.max", REGISTERED_BYTES + "")
            .driverOption("-Xmx768m");
    List<String> arguments =
        List.of(
            cluster.resultFile().toString(), String.valueOf(EXECUTORS), String.valueOf(MEGABYTES));
    String master = "local-cluster[" + EXECUTORS + ",1,1024]";
    try (SparkSubmit.Run run =
        submit.start(master, arguments, cluster.stdout(), cluster.stderr())) {
      result = cluster.result(run.await(Duration.ofMinutes(8)), MemoryResult.class);
    }
    driverLog = Files.readString(cluster.stdout());
  }

  @Test
  void tasksWithSeveralReadersNeitherWaitNorFallBack() {
    assertThat(result.readers.jobs).hasSize(4);
    for (JobResult job : result.readers.jobs) {
      assertThat(job.digest).as(job.name).isEqualTo(result.expected.get(job.name));
      assertThat(job.fallbacks).as("no wait ran to its limit in " + job.name).isEmpty();
      long bytes = job.bytes.values().stream().mapToLong(Long::longValue).sum();
      assertThat(bytes).as("remote bytes of " + job.name).isGreaterThan(MEGABYTES * 500_000L);
      long read = job.bytes.getOrDefault("read", 0L) + job.bytes.getOrDefault("staged", 0L);
      assertThat(read).as("of them by READ").isGreaterThan(bytes * 9 / 10);
    }
  }

  @Test
  void noTaskFailedButThoseThatWereMadeToFail() {
    assertThat(result.unexpectedFailures).isEmpty();
    assertThat(result.failuresOnPurpose).isBetween(450L, 500L); // a kill may come too late
    assertThat(result.endings).isEqualTo("500 whole, 500 in part, 0 wrong");
  }

  @Test
  void nothingIsLeftOfTasksThatEndedEarlyAndOfShufflesThatAreGone() {
    for (int i = 0; i < EXECUTORS; i++) {
      ExecutorState before = result.before.get(i);
      ExecutorState after = result.after.get(i);
      for (String level :
          List.of(
              "leases",
              "pool.chunks-out",
              "overflow-bytes",
              "outputs",
              "registered-bytes.windows")) {
        assertThat(after.levels.get(level)).as(level + ", " + after).isZero();
      }
      assertThat(after.shuffleMappings).as("mapped shuffle files, %s", after).isZero();
      assertThat(after.shuffleDescriptors).as("open shuffle files, %s", after).isZero();
      assertThat(after.registeredBytes)
          .as("registered, %s, before %s", after, before)
          .isLessThanOrEqualTo(REGISTERED_BYTES);
      assertThat(after.levels.get("registered-bytes.reader-pool")).isLessThanOrEqualTo(8L << 20);
      assertThat(after.descriptors).as("descriptors").isLessThan(before.descriptors + 20);
      // A few hundred threads of user code came and went, and each left its arena to malloc.
      assertThat(after.mappings).as("mappings").isLessThan(before.mappings + 200);
      assertThat(after.levels.get("threads")).isLessThanOrEqualTo(before.levels.get("threads") + 4);
    }
  }

  @Test
  void threadsThatReadOnSeeNoWrongByte() {
    long started = 0;
    for (ExecutorState state : result.after) {
      assertThat(state.lateReaders).as("%s", state).doesNotContainKey("wrong records");
      started += state.lateReaders.getOrDefault("right records", 0L);
    }
    assertThat(started).as("late readers that read at all").isGreaterThan(200);
  }

  @Test
  void theLimitWasInForce() {
    assertThat(driverLog).contains("after: ");
    for (ExecutorState state : result.before) {
      assertThat(state.levels.get("registered-bytes.reader-pool")).isLessThanOrEqualTo(8L << 20);
      assertThat(state.registeredBytes).isLessThanOrEqualTo(REGISTERED_BYTES);
    }
  }
}
