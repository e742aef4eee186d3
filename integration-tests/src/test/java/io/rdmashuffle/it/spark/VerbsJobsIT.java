package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.benchmarks.workload.RunResult;
import io.rdmashuffle.it.app.SuiteApplication;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Real jobs on an adapter of this host, which {@code -Dit.device} names: they give what they must,
 * with either serializer, and every remote block comes by RDMA.
 */
final class VerbsJobsIT {
  /** Between the smallest and the largest blocks of these jobs. */
  private static final String STAGING_BELOW = "14k";

  /**
   * One cluster and few tasks: an emulated machine takes minutes for the one and seconds for each
   * of the others. So the jobs are those whose results are known without the stock shuffle.
   */
  @Test
  void everyRecordArrivesOnceAndEveryRemoteBlockByRdma() throws Exception {
    Map<String, String> expected = SuiteApplication.resultsOfMoves();
    String device = System.getProperty("it.device");

    RunResult result =
        SubmittedSuite.withPlugin("verbs")
            .set("spark.shuffle.rdma.device", device)
            // The first of everything takes an emulated JVM seconds.
            .set("spark.shuffle.rdma.connect.timeout", "60s")
            .set("spark.shuffle.rdma.discovery.timeout", "60s")
            .set("spark.shuffle.rdma.fetch.timeout", "5min")
            .set("spark.shuffle.rdma.request.timeout", "60s")
            .set("spark.shuffle.rdma.locate.timeout", "30s")
            .set("spark.shuffle.rdma.memory.timeout", "30s")
            .set("spark.shuffle.rdma.staging.below", STAGING_BELOW)
            .set("spark.shuffle.compress", "false")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .jobs(expected.keySet().stream().sorted().toArray(String[]::new))
            .runOnCluster()
            .result();

    assertThat(EqualResultsIT.digests(result)).isEqualTo(expected);
    assertThat(result.device).startsWith(device);
    EqualResultsIT.assertRemoteBlocksCameByRdma(result, Set.of());
    assertThat(blocks(result, "read")).as("READ out of the files themselves").isPositive();
    assertThat(blocks(result, "staged")).as("READ out of staging memory").isPositive();
  }

  private static long blocks(RunResult result, String way) {
    return result.jobs.stream().mapToLong(job -> job.blocks.getOrDefault(way, 0L)).sum();
  }
}
