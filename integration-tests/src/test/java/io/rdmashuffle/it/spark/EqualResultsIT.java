package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.benchmarks.workload.JobResult;
import io.rdmashuffle.benchmarks.workload.RunResult;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Every job gives what the stock shuffle gives, with all pairs of settings covered by six clusters,
 * and every remote block comes by READ, inline or staged, unless it was asked for to disk.
 *
 * <p>The six rows: the first has all defaults; each other setting is changed in three of the
 * remaining five rows, no two settings in the same three. So any two settings meet in all four
 * combinations.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class EqualResultsIT {
  private Map<String, String> expected;

  @BeforeAll
  void runTheStockShuffle() throws Exception {
    expected = digests(SubmittedSuite.stock("stock").run("local[2]").result());
  }

  @ParameterizedTest
  @EnumSource(Row.class)
  void resultsEqualTheStockShuffles(Row row) throws Exception {
    SubmittedSuite suite = SubmittedSuite.onSoft("equal-" + row.name().toLowerCase(Locale.ROOT));
    row.settings().forEach(suite::set);

    RunResult result = suite.runOnCluster().result();

    assertThat(digests(result)).isEqualTo(expected);
    assertThat(result.device).startsWith("soft0");
    assertRemoteBlocksCameByRdma(result, row.allowedFallbacks());
    assertThat(result.jobs.stream().flatMap(job -> job.fallbacks.keySet().stream()))
        .as("blocks were asked for to disk where they may be")
        .containsAll(row.allowedFallbacks());
  }

  /** All of them, but for those that may have fallen back; and there were some. */
  static void assertRemoteBlocksCameByRdma(RunResult result, Set<String> allowedFallbacks) {
    for (JobResult job : result.jobs) {
      assertThat(job.fallbacks.keySet()).as(job.name).isSubsetOf(allowedFallbacks);
      assertThat(sum(job.blocks))
          .as(job.name + " " + job.blocks)
          .isGreaterThanOrEqualTo(job.engineBlocks);
      assertThat(job.blocks.getOrDefault("netty", 0L)).as(job.name).isEqualTo(sum(job.fallbacks));
    }
    assertThat(result.jobs.stream().mapToLong(j -> sum(j.blocks)).sum()).isPositive();
  }

  /** What the jobs computed, by their names. */
  static Map<String, String> digests(RunResult result) {
    return result.jobs.stream().collect(Collectors.toMap(j -> j.name, j -> j.digest));
  }

  private static long sum(Map<String, Long> values) {
    return values.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Settings of one cluster. */
  enum Row {
    DEFAULTS(),
    EVERYTHING_ELSE(
        Change.JAVA, Change.PLAIN, Change.ENCRYPTED, Change.STATIC, Change.SINGLE, Change.DISK),
    ENCRYPTED_NETWORK(Change.JAVA, Change.PLAIN, Change.ENCRYPTED, Change.CRYPTO),
    NOT_ADAPTIVE(Change.JAVA, Change.STATIC, Change.SINGLE),
    UNCOMPRESSED(Change.PLAIN, Change.STATIC, Change.DISK),
    SINGLE_BLOCKS(Change.ENCRYPTED, Change.SINGLE, Change.DISK);

    private final Change[] changes;

    Row(Change... changes) {
      this.changes = changes;
    }

    Map<String, String> settings() {
      Map<String, String> settings = new LinkedHashMap<>();
      settings.put("spark.serializer", "org.apache.spark.serializer.KryoSerializer");
      for (Change change : changes) {
        settings.putAll(change.settings);
      }
      return settings;
    }

    Set<String> allowedFallbacks() {
      return java.util.Arrays.asList(changes).contains(Change.DISK) ? Set.of("to-disk") : Set.of();
    }
  }

  /** One setting away from the default. */
  private enum Change {
    JAVA(Map.of("spark.serializer", "org.apache.spark.serializer.JavaSerializer")),
    PLAIN(Map.of("spark.shuffle.compress", "false")),
    ENCRYPTED(Map.of("spark.io.encryption.enabled", "true")),
    CRYPTO(
        Map.of(
            "spark.authenticate",
            "true",
            "spark.authenticate.secret",
            "a secret for this test",
            "spark.network.crypto.enabled",
            "true")),
    STATIC(Map.of("spark.sql.adaptive.enabled", "false")),
    SINGLE(Map.of("spark.sql.adaptive.fetchShuffleBlocksInBatch", "false")),
    DISK(Map.of("spark.network.maxRemoteBlockSizeFetchToMem", "2m"));

    private final Map<String, String> settings;

    Change(Map<String, String> settings) {
      this.settings = settings;
    }
  }
}
