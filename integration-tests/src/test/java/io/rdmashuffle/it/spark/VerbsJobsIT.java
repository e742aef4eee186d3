package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.benchmarks.workload.RunResult;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Real jobs on an adapter of this host, which {@code -Dit.device} names: they give what the stock
 * shuffle gives, with either serializer, and every remote block comes by RDMA.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class VerbsJobsIT {
  /** Few tasks: an emulated machine takes seconds for each. */
  private static final String[] JOBS = {"bypass", "partition-by"};

  private Map<String, String> expected;

  @BeforeAll
  void runTheStockShuffle() throws Exception {
    expected =
        EqualResultsIT.digests(
            SubmittedSuite.stock("verbs-stock").jobs(JOBS).run("local[2]").result());
  }

  /** Once with blocks copied into staging memory first, once READ out of the files themselves. */
  @ParameterizedTest
  @CsvSource({"KryoSerializer, 64k", "JavaSerializer, 0"})
  void resultsEqualTheStockShuffles(String serializer, String stagingBelow) throws Exception {
    String device = System.getProperty("it.device");
    RunResult result =
        SubmittedSuite.withPlugin("verbs-" + serializer)
            .set("spark.shuffle.rdma.device", device)
            // The first of everything takes an emulated JVM seconds.
            .set("spark.shuffle.rdma.connect.timeout", "60s")
            .set("spark.shuffle.rdma.discovery.timeout", "60s")
            .set("spark.shuffle.rdma.fetch.timeout", "5min")
            .set("spark.shuffle.rdma.request.timeout", "60s")
            .set("spark.shuffle.rdma.locate.timeout", "30s")
            .set("spark.shuffle.rdma.memory.timeout", "30s")
            .set("spark.shuffle.rdma.staging.below", stagingBelow)
            .set("spark.serializer", "org.apache.spark.serializer." + serializer)
            .jobs(JOBS)
            .runOnCluster()
            .result();

    assertThat(EqualResultsIT.digests(result)).isEqualTo(expected);
    assertThat(result.device).startsWith(device);
    EqualResultsIT.assertRemoteBlocksCameByRdma(result, Set.of());
  }
}
