package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.benchmarks.workload.JobResult;
import io.rdmashuffle.benchmarks.workload.RunResult;
import io.rdmashuffle.transport.testing.Requirements;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What each mode does on a host without an adapter, and what encryption does. */
final class ModesIT {
  private static final String JOB = "partition-by";

  @BeforeEach
  void thisHostHasNoAdapter() {
    Requirements.require(
        !Files.isDirectory(Path.of("/sys/class/infiniband")),
        "this host has an RDMA adapter, which mode auto would use");
  }

  @Test
  void autoWithoutAnAdapterUsesNettyAndSaysWhyOncePerExecutor() throws Exception {
    SubmittedSuite.Finished run = SubmittedSuite.withPlugin("mode-auto").jobs(JOB).runOnCluster();

    assertAllByNetty(run.result(), "no-device");
    assertThat(run.executorLogs()).hasSize(SubmittedSuite.EXECUTORS);
    for (String log : run.executorLogs()) {
      assertThat(log.lines().filter(line -> line.contains("no RDMA adapter")))
          .as("lines that say why")
          .hasSize(1);
    }
  }

  @Test
  void requiredWithoutAnAdapterEndsTheJobWithTheReason() throws Exception {
    SubmittedSuite.Finished run =
        SubmittedSuite.withPlugin("mode-required")
            .set("spark.shuffle.rdma.mode", "required")
            .jobs(JOB)
            .runOnCluster();

    assertThat(run.exit()).isNotZero();
    assertThat(run.driverLog()).contains("spark.shuffle.rdma.mode").contains("no RDMA adapter");
    assertThat(run.executorLogs()).as("executors ever started").hasSize(SubmittedSuite.EXECUTORS);
  }

  @Test
  void offIsSilent() throws Exception {
    SubmittedSuite.Finished run =
        SubmittedSuite.withPlugin("mode-off")
            .set("spark.shuffle.rdma.mode", "off")
            .jobs(JOB)
            .runOnCluster();

    JobResult job = run.result().jobs.get(0);
    assertThat(job.engineBlocks).isPositive();
    assertThat(job.blocks).as("counted: Spark's own reader and client are in use").isEmpty();
    assertThat(run.executorLogs())
        .hasSize(SubmittedSuite.EXECUTORS)
        .noneMatch(log -> log.contains("no RDMA"));
  }

  @Test
  void anEncryptedNetworkWithPlainFilesStaysWithNetty() throws Exception {
    SubmittedSuite.Finished run =
        SubmittedSuite.onSoft("crypto-only")
            .set("spark.authenticate", "true")
            .set("spark.authenticate.secret", "a secret for this test")
            .set("spark.network.crypto.enabled", "true")
            .jobs(JOB)
            .runOnCluster();

    assertAllByNetty(run.result(), "encryption");
    assertThat(run.executorLogs())
        .hasSize(SubmittedSuite.EXECUTORS)
        .allMatch(log -> log.contains("spark.network.crypto.enabled"));
  }

  @Test
  void aBadValueStopsStartUpNamingKeyValueAndRange() throws Exception {
    SubmittedSuite.Finished run =
        SubmittedSuite.onSoft("bad-value")
            .set("spark.shuffle.rdma.read.window", "1k")
            .jobs(JOB)
            .runOnCluster();

    assertThat(run.exit()).isNotZero();
    assertThat(run.driverLog())
        .contains("spark.shuffle.rdma.read.window=1k is outside 64 KiB to 1 GiB");
  }

  private static void assertAllByNetty(RunResult result, String reason) {
    JobResult job = result.jobs.get(0);
    assertThat(result.device).isNull();
    assertThat(job.engineBlocks).isPositive();
    assertThat(job.blocks).containsOnlyKeys("netty");
    assertThat(job.blocks.get("netty")).isEqualTo(job.engineBlocks);
    assertThat(List.copyOf(job.fallbacks.keySet())).containsExactly(reason);
  }
}
