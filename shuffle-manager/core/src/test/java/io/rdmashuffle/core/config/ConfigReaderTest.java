package io.rdmashuffle.core.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.server.ServerSettings;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ConfigReaderTest {
  private static ConfigReader config(Map<String, String> values) {
    return new ConfigReader("spark.shuffle.rdma.", values::get);
  }

  private static ConfigReader config(String key, String value) {
    return config(Map.of("spark.shuffle.rdma." + key, value));
  }

  @Test
  void valueOutsideItsRangeNamesKeyValueAndRange() {
    assertThatThrownBy(() -> config("read.window", "1k").read(RdmaOptions.READ_WINDOW))
        .isInstanceOf(ConfigException.class)
        .hasMessage("spark.shuffle.rdma.read.window=1k is outside 64 KiB to 1 GiB");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "read.window|wide|a size such as 64k, 16m or 1g (allowed: 64 KiB to 1 GiB)",
        "read.window|99999999999g|a size such as 64k, 16m or 1g (allowed: 64 KiB to 1 GiB)",
        "fetch.timeout|5|a duration such as 20us, 500ms, 5s or 1min (allowed: 100 ms to 10 min)",
        "mode|maybe|one of auto, required, off (allowed: auto, required, off)",
        "allowUnencrypted|yes|true or false (allowed: true or false)",
        "connections.max|many|a whole number (allowed: 2 to 65536)",
        "device| |a device (allowed: auto, soft, an adapter (mlx5_0), a port of it (mlx5_0:1)"
            + " or an IPv4 address of a port)",
        "device|''|a device (allowed: auto, soft, an adapter (mlx5_0), a port of it (mlx5_0:1)"
            + " or an IPv4 address of a port)",
        "device|foo:x|a device (allowed: auto, soft, an adapter (mlx5_0), a port of it (mlx5_0:1)"
            + " or an IPv4 address of a port)",
        "bind.address|10.1.0|an IPv4 address or network such as 10.1.0.0/16"
            + " (allowed: an IPv4 address, or a network such as 10.1.0.0/16)",
        "bind.address|10.1.0.0/33|an IPv4 address or network such as 10.1.0.0/16"
            + " (allowed: an IPv4 address, or a network such as 10.1.0.0/16)",
        "bind.address|10.1.0.256|an IPv4 address or network such as 10.1.0.0/16"
            + " (allowed: an IPv4 address, or a network such as 10.1.0.0/16)",
        "pool.transit|a half|a percentage such as 25% (allowed: 5 % to 50 %)",
      })
  void malformedValueNamesWhatIsExpected(String key, String value, String expected) {
    assertThatThrownBy(() -> RdmaSettings.from(config(key, value)))
        .isInstanceOf(ConfigException.class)
        .hasMessage("spark.shuffle.rdma." + key + "=" + value + " is not " + expected);
  }

  @Test
  void unknownKeyNamesTheNearestKnownOne() {
    assertThatThrownBy(
            () -> config(Map.of()).refuseUnknown(Set.of("spark.shuffle.rdma.read.windw")))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "spark.shuffle.rdma.read.windw is not a setting of this version;"
                + " did you mean spark.shuffle.rdma.read.window?");
  }

  @ParameterizedTest
  @CsvSource({
    "mod, mode",
    "read.windwo, read.window",
    "pool.sizes, pool.size",
    "beaker.mim, breaker.min",
    "foo,",
    "enabled,",
    "executor.cores,",
    "compression.codec,",
  })
  void onlyAKeyThatIsLikeAKnownOneIsTakenForASlip(String key, String meant) {
    String hint = meant == null ? "" : "; did you mean spark.shuffle.rdma." + meant + "?";
    assertThatThrownBy(() -> config(Map.of()).refuseUnknown(Set.of("spark.shuffle.rdma." + key)))
        .hasMessage("spark.shuffle.rdma." + key + " is not a setting of this version" + hint);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      ignoreLeadingAndTrailingWhitespace = false,
      value = {
        "pool.size|256|, read as 256 B, is outside 8 MiB to 64 GiB",
        "pool.size|65536|, read as 64 KiB, is outside 8 MiB to 64 GiB",
        "pool.size|256k| is outside 8 MiB to 64 GiB",
        "pool.transit|60|, read as 60 %, is outside 5 % to 50 %",
        "connections.max|70000| is outside 2 to 65536",
      })
  void aNumberWithoutUnitIsRefusedWithTheUnitItWasReadIn(String key, String value, String end) {
    assertThatThrownBy(() -> RdmaSettings.from(config(key, value)))
        .hasMessage("spark.shuffle.rdma." + key + "=" + value + end);
  }

  @Test
  void settingsThatContradictEachOtherAreShownAsUsersWriteThem() {
    Map<String, String> values =
        Map.of("spark.shuffle.rdma.breaker.min", "20s", "spark.shuffle.rdma.breaker.max", "500ms");
    assertThatThrownBy(() -> RdmaSettings.from(config(values)))
        .hasMessage(
            "spark.shuffle.rdma.breaker.min=20 s must not be above"
                + " spark.shuffle.rdma.breaker.max=500 ms: change one of them");
  }

  @Test
  void keysOfOthersAndKnownKeysAreNotRefused() {
    config(Map.of()).refuseUnknown(Set.of("spark.shuffle.rdma.mode", "spark.shuffle.compress"));
  }

  @Test
  void defaultsAreTheTransportsOwn() {
    RdmaSettings settings = RdmaSettings.from(config(Map.of()));
    assertThat(settings.mode()).isEqualTo(Mode.AUTO);
    assertThat(settings.channel()).isEqualTo(ChannelSettings.defaults());
    assertThat(settings.client()).isEqualTo(ClientSettings.defaults());
    assertThat(settings.server()).isEqualTo(ServerSettings.defaults());
  }

  @Test
  void everyOptionReachesTheSettings() {
    RdmaSettings defaults = RdmaSettings.from(config(Map.of()));
    Map<String, String> changed =
        Map.ofEntries(
            Map.entry("mode", "off"),
            Map.entry("device", "mlx5_1"),
            Map.entry("bind.address", "10.0.0.7"),
            Map.entry("allowUnencrypted", "true"),
            Map.entry("memory.registered.max", "2g"),
            Map.entry("memory.overhead.share", "40%"),
            Map.entry("pool.size", "512m"),
            Map.entry("pool.chunk", "2m"),
            Map.entry("pool.transit", "20%"),
            Map.entry("read.window", "32m"),
            Map.entry("read.size", "4m"),
            Map.entry("fetch.timeout", "31s"),
            Map.entry("discovery.timeout", "4s"),
            Map.entry("memory.timeout", "400ms"),
            Map.entry("inline.max", "1k"),
            Map.entry("window.size", "32m"),
            Map.entry("staging.size", "16m"),
            Map.entry("staging.below", "32k"),
            Map.entry("locate.timeout", "2s"),
            Map.entry("lease.revoke.timeout", "6s"),
            Map.entry("connections.max", "64"),
            Map.entry("requests.inflight", "8"),
            Map.entry("reads.inflight", "64"),
            Map.entry("connect.timeout", "6s"),
            Map.entry("request.timeout", "11s"),
            Map.entry("keepalive.interval", "4s"),
            Map.entry("idle.timeout", "4min"),
            Map.entry("spin", "30us"),
            Map.entry("breaker.min", "2s"),
            Map.entry("breaker.max", "2min"),
            Map.entry("fallback.threads", "3"));
    assertThat(changed.keySet())
        .containsExactlyInAnyOrderElementsOf(
            RdmaOptions.all().stream().map(ConfigOption::key).toList());
    for (Map.Entry<String, String> entry : changed.entrySet()) {
      assertThat(RdmaSettings.from(config(entry.getKey(), entry.getValue())))
          .as(entry.toString())
          .isNotEqualTo(defaults);
    }
  }

  @Test
  void contradictingValuesNameBoth() {
    assertThatThrownBy(() -> RdmaSettings.from(config("breaker.min", "2min")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("spark.shuffle.rdma.breaker.min=")
        .hasMessageContaining("spark.shuffle.rdma.breaker.max=");
  }

  @Test
  void thePoolMayBeSmallWithoutSmallerChunks() {
    ClientSettings client = RdmaSettings.from(config("pool.size", "8m")).client();

    assertThat(client.poolBytes()).isEqualTo(8 << 20);
    assertThat(client.chunkBytes()).as("halved where the pool is made").isEqualTo(1 << 20);
  }

  @Test
  void networkContainsTheAddressesThatBeginAsItDoes() throws UnknownHostException {
    Inet4Address address = (Inet4Address) InetAddress.getByName("10.1.250.7");
    assertThat(BindNetwork.parse("10.1.0.0/16").contains(address)).isTrue();
    assertThat(BindNetwork.parse("10.1.9.9/16").contains(address)).isTrue();
    assertThat(BindNetwork.parse("10.1.250.7").contains(address)).isTrue();
    assertThat(BindNetwork.parse("10.1.250.8").contains(address)).isFalse();
    assertThat(BindNetwork.parse("0.0.0.0/0").contains(address)).isTrue();
    assertThat(BindNetwork.parse("10.1.9.9/16")).hasToString("10.1.0.0/16");
  }

  @ParameterizedTest
  @CsvSource({
    "65536,64 KiB",
    "64k,64 KiB",
    "64KB,64 KiB",
    "64KiB,64 KiB",
    "16 m,16 MiB",
    "1g,1 GiB",
    "1t,1 TiB",
    "1000,1000 B",
    "0,0 B"
  })
  void sizesAreReadAndShown(String text, String shown) {
    assertThat(ByteSize.parse(text)).hasToString(shown);
  }

  @ParameterizedTest
  @CsvSource({"20us,PT0.00002S", "500ms,PT0.5S", "5s,PT5S", "1min,PT1M", "2m,PT2M", "1h,PT1H"})
  void durationsAreReadAndShown(String text, Duration duration) {
    assertThat(Durations.parse(text)).isEqualTo(duration);
    assertThat(Durations.parse(Durations.format(duration).replace(" ", ""))).isEqualTo(duration);
  }

  @Test
  void anEngineMayHaveDefaultsOfItsOwn() {
    List<ConfigOption<?>> own =
        List.of(
            RdmaOptions.POOL_SIZE.withDefault(ByteSize.mib(32)),
            RdmaOptions.CONNECT_TIMEOUT.withDefault(Duration.ofSeconds(3)),
            RdmaOptions.POOL_TRANSIT.withDefault(25),
            RdmaOptions.BIND_ADDRESS);
    ConfigReader reader = config("pool.size", "64m").withDefaultsOf(own);

    assertThat(reader.read(RdmaOptions.POOL_SIZE)).isEqualTo(ByteSize.mib(64));
    assertThat(reader.read(RdmaOptions.CONNECT_TIMEOUT)).isEqualTo(Duration.ofSeconds(3));
    assertThat(reader.read(RdmaOptions.POOL_TRANSIT)).isEqualTo(25);
    assertThat(reader.read(RdmaOptions.BIND_ADDRESS)).isEqualTo(BindNetwork.ANY);
    assertThat(reader.read(RdmaOptions.READ_SIZE)).isEqualTo(ByteSize.mib(1));
  }

  @Test
  void everyDefaultIsWrittenAsOneWouldSetIt() {
    for (ConfigOption<?> option : RdmaOptions.all()) {
      assertThat(option.parse(option.key(), option.defaultText()))
          .as(option.key())
          .isEqualTo(option.defaultValue());
    }
  }
}
