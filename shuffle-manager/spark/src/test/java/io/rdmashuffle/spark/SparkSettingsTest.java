package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.rdmashuffle.core.config.ConfigException;
import io.rdmashuffle.spark.runtime.Availability.Absent;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.aggregator.ArgumentsAccessor;
import org.junit.jupiter.params.provider.CsvSource;

final class SparkSettingsTest {
  private static SparkConf conf(Map<String, String> values) {
    SparkConf conf = new SparkConf(false);
    values.forEach(conf::set);
    return conf;
  }

  private static Optional<Absent> obstacle(Map<String, String> values) {
    return SparkSettings.read(conf(values), false).policy().obstacle();
  }

  @Test
  void wrongValueStopsTheStartOfTheManager() {
    SparkConf wrong = conf(Map.of("spark.shuffle.rdma.read.window", "1k"));
    assertThatThrownBy(() -> new RdmaShuffleManager(wrong, true))
        .isInstanceOf(ConfigException.class)
        .hasMessage("spark.shuffle.rdma.read.window=1k is outside 64 KiB to 1 GiB");
  }

  @Test
  void unknownKeyStopsTheStartOfTheManager() {
    SparkConf wrong = conf(Map.of("spark.shuffle.rdma.devise", "mlx5_0"));
    assertThatThrownBy(() -> new RdmaShuffleManager(wrong, true))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("did you mean spark.shuffle.rdma.device?");
  }

  @Test
  void constructorStartsNoThread() {
    RdmaShuffleManager manager = new RdmaShuffleManager(conf(Map.of()), false);
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().contains("rdma"));
    assertThat(manager.snapshot().absence()).isEqualTo("no task has shuffled here yet");
  }

  @ParameterizedTest(name = "{0}, files encrypted {1}, plain text allowed {2}: {3}")
  @CsvSource({
    "none,            false, false, may",
    "crypto,          false, false, must not",
    "sasl,            false, false, must not",
    "tls,             false, false, must not",
    "crypto sasl tls, false, false, must not",
    "crypto,          true,  false, may",
    "sasl,            true,  false, may",
    "tls,             true,  false, may",
    "crypto,          false, true,  may",
    "sasl,            false, true,  may",
    "tls,             false, true,  may",
    "crypto sasl tls, true,  true,  may",
    "none,            true,  false, may",
  })
  void plainTextNeverCrossesANetworkThatIsToBeEncrypted(
      String encrypting, String files, String allowed, String verdict) {
    Optional<Absent> obstacle =
        obstacle(
            Map.of(
                "spark.authenticate",
                "true",
                "spark.network.crypto.enabled",
                has(encrypting, "crypto"),
                "spark.authenticate.enableSaslEncryption",
                has(encrypting, "sasl"),
                "spark.ssl.rpc.enabled",
                has(encrypting, "tls"),
                "spark.io.encryption.enabled",
                files,
                "spark.shuffle.rdma.allowUnencrypted",
                allowed));
    if (verdict.equals("may")) {
      assertThat(obstacle).isEmpty();
    } else {
      assertThat(obstacle.orElseThrow().reason()).isEqualTo(FallbackReason.ENCRYPTION);
      assertThat(obstacle.orElseThrow().text())
          .contains("spark.io.encryption.enabled=true", "spark.shuffle.rdma.allowUnencrypted=true");
    }
  }

  private static String has(String encrypting, String kind) {
    return String.valueOf(encrypting.contains(kind));
  }

  @Test
  void oldFetchProtocolIsNotSupported() {
    assertThat(obstacle(Map.of("spark.shuffle.useOldFetchProtocol", "true")).orElseThrow().reason())
        .isEqualTo(FallbackReason.NOT_SUPPORTED);
  }

  @ParameterizedTest
  @CsvSource({
    "yarn, true",
    "spark://host:7077, true",
    "'local-cluster[2,1,1024]', true",
    "local, false",
    "'local[4]', false",
    "'local[*]', false"
  })
  void driverOpensADeviceOnlyInLocalMode(String master, boolean ruledOut) {
    SparkSettings settings = SparkSettings.read(conf(Map.of("spark.master", master)), true);
    assertThat(settings.policy().obstacle().isPresent()).isEqualTo(ruledOut);
    assertThat(SparkSettings.read(conf(Map.of("spark.master", master)), false).policy().obstacle())
        .isEmpty();
  }

  @Test
  void overheadIsWhatSparkAsksTheClusterManagerFor() {
    assertThat(overheadMib(Map.of())).isEqualTo(384);
    assertThat(overheadMib(Map.of("spark.executor.memory", "20g"))).isEqualTo(2048);
    assertThat(
            overheadMib(
                Map.of(
                    "spark.executor.memory", "20g",
                    "spark.executor.memoryOverheadFactor", "0.5")))
        .isEqualTo(10240);
    assertThat(overheadMib(Map.of("spark.executor.memoryOverhead", "3g"))).isEqualTo(3072);
    assertThat(overheadMib(Map.of("spark.executor.memoryOverhead", "700"))).isEqualTo(700);
  }

  @Test
  void registeredMemoryIsBoundedByTheOverheadOrByTheUser() {
    SparkSettings byOverhead =
        SparkSettings.read(conf(Map.of("spark.executor.memoryOverhead", "1000m")), false);
    assertThat(byOverhead.transport().memory().bytes() / 1e6).isBetween(524.0, 525.0);
    SparkSettings byUser =
        SparkSettings.read(conf(Map.of("spark.shuffle.rdma.memory.registered.max", "3g")), false);
    assertThat(byUser.transport().memory().bytes()).isEqualTo(3L << 30);
    assertThat(byUser.transport().memory().name())
        .isEqualTo("spark.shuffle.rdma.memory.registered.max");
  }

  /** The memlock limit may leave more to overflow memory; never less, and never more together. */
  @ParameterizedTest(name = "{0}, registered.max {1}, share {2} %, memlock {3} MiB: {4} + {5} MiB")
  @CsvSource({
    // master, registered.max, share, memlock, registered, overflow
    "yarn, 0, 60, 100000, 500, 100",
    "k8s://https://host:443, 0, 60, 100000, 500, 100",
    "yarn, 0, 60, 8, 8, 592",
    "yarn, 2g, 60, 100000, 500, 100",
    "yarn, 2g, 90, 100000, 750, 150",
    "yarn, 200m, 60, 100000, 200, 400",
    "spark://host:7077, 0, 60, 100000, 500, 256",
    "spark://host:7077, 2g, 60, 100000, 2048, 256",
    "'local[4]', 2g, 60, 8, 8, 256",
  })
  void registeredAndOverflowMemoryStayWithinTheOverhead(ArgumentsAccessor row) {
    TransportSettings settings =
        SparkSettings.read(
                conf(
                    Map.of(
                        "spark.master", row.getString(0),
                        "spark.executor.memoryOverhead", "1000m",
                        "spark.shuffle.rdma.memory.registered.max", row.getString(1),
                        "spark.shuffle.rdma.memory.overhead.share", row.getString(2))),
                false)
            .transport();

    long registeredBytes = Math.min(settings.memory().bytes(), row.getLong(3) << 20);
    assertThat(registeredBytes / 1048576.0).isCloseTo(row.getLong(4), within(0.01));
    assertThat(settings.overflow().bytes(registeredBytes) / 1048576.0)
        .isCloseTo(row.getLong(5), within(0.01));
  }

  @Test
  void aBoundBelowWhatTheUserAskedForSaysWhatWouldRaiseIt() {
    MemoryBudget.Bound bound =
        SparkSettings.read(
                conf(
                    Map.of(
                        "spark.master", "yarn",
                        "spark.shuffle.rdma.memory.registered.max", "2g")),
                false)
            .transport()
            .memory();

    assertThat(bound.name())
        .isEqualTo(
            "five sixths of 60 % of the memory overhead, less than"
                + " spark.shuffle.rdma.memory.registered.max");
    assertThat(bound.remedy()).contains("spark.executor.memoryOverhead");
  }

  private static long overheadMib(Map<String, String> values) {
    return SparkSettings.read(conf(values), false).overheadBytes() >> 20;
  }
}
