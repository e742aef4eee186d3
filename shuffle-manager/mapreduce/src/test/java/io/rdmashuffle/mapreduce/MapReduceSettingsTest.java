package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.core.config.ConfigException;
import io.rdmashuffle.transport.TransportSettings;
import java.time.Duration;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MapReduceSettingsTest {
  private static Configuration conf(String... keysAndValues) {
    Configuration conf = new Configuration(false);
    for (int i = 0; i < keysAndValues.length; i += 2) {
      conf.set(keysAndValues[i], keysAndValues[i + 1]);
    }
    return conf;
  }

  @Test
  void defaultsFitAContainerAndANodeManager() {
    MapReduceSettings task = MapReduceSettings.ofTask(conf());
    MapReduceSettings node = MapReduceSettings.ofNodeManager(conf());

    assertThat(task.isOff()).isFalse();
    assertThat(task.transport().memory().bytes()).isEqualTo(64L << 20);
    assertThat(task.transport().client().poolBytes()).isEqualTo(48L << 20);
    assertThat(task.transport().channel().connectTimeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(task.port().portFor(13_562)).isEqualTo(13_563);
    assertThat(node.transport().memory().bytes()).isEqualTo(1L << 30);
    assertThat(node.transport().channel().maxConnections()).isEqualTo(1024);
    assertThat(node.port()).isEqualTo(task.port());
  }

  /** With any memlock limit, and with what fetchers may have under way. */
  @ParameterizedTest(name = "registered.max {0}, pool {1}: together {2} MiB, of it {3} at least")
  @CsvSource({"64m, 48m, 80, 16", "8m, 48m, 10, 2", "0, 48m, 80, 16", "0, 256m, 320, 64"})
  void aReduceTaskHasOverflowMemoryForWhatItsFetchersHaveUnderWay(
      String registered, String pool, long togetherMib, long leastMib) {
    TransportSettings task =
        MapReduceSettings.ofTask(
                conf(
                    "mapreduce.shuffle.rdma.memory.registered.max", registered,
                    "mapreduce.shuffle.rdma.pool.size", pool))
            .transport();

    assertThat(task.overflow().bytes(0) >> 20).isEqualTo(togetherMib);
    assertThat(task.overflow().bytes(togetherMib << 20) >> 20).isEqualTo(leastMib);
    assertThat(task.readerHoldsBytes()).isLessThan(togetherMib << 20);
  }

  @Test
  void aNodeManagerDoesNotTakeWhatIsMeantForTasks() {
    Configuration both =
        conf(
            "mapreduce.shuffle.rdma.memory.registered.max", "16m",
            "mapreduce.shuffle.rdma.mode", "off",
            "mapreduce.shuffle.rdma.nodemanager.memory.registered.max", "2g",
            "mapreduce.shuffle.rdma.port", "9011");

    MapReduceSettings node = MapReduceSettings.ofNodeManager(both);
    MapReduceSettings task = MapReduceSettings.ofTask(both);

    assertThat(node.isOff()).isFalse();
    assertThat(node.transport().memory().bytes()).isEqualTo(2L << 30);
    assertThat(task.isOff()).isTrue();
    assertThat(task.transport().memory().bytes()).isEqualTo(16L << 20);
    assertThat(node.port().portFor(13_562)).isEqualTo(9011);
    assertThat(task.port().portFor(13_562)).isEqualTo(9011);
  }

  @Test
  void noBoundLeavesTheKernels() {
    MapReduceSettings node =
        MapReduceSettings.ofNodeManager(
            conf("mapreduce.shuffle.rdma.nodemanager.memory.registered.max", "0"));
    assertThat(node.transport().memory().bytes()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void badValuesAreNamedWithKeyValueAndRange() {
    assertThatThrownBy(
            () -> MapReduceSettings.ofTask(conf("mapreduce.shuffle.rdma.read.window", "1k")))
        .isInstanceOf(ConfigException.class)
        .hasMessage("mapreduce.shuffle.rdma.read.window=1k is outside 64 KiB to 1 GiB");
    assertThatThrownBy(
            () ->
                MapReduceSettings.ofNodeManager(
                    conf("mapreduce.shuffle.rdma.nodemanager.mode", "required")))
        .isInstanceOf(ConfigException.class)
        .hasMessage(
            "mapreduce.shuffle.rdma.nodemanager.mode=required is not one of auto, off"
                + " (allowed: auto, off)");
    assertThatThrownBy(
            () -> MapReduceSettings.ofNodeManager(conf("mapreduce.shuffle.rdma.port", "x")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("mapreduce.shuffle.rdma.port=x");
  }

  @Test
  void unknownKeysAreNamedWithTheNearestKnownOne() {
    assertThatThrownBy(
            () -> MapReduceSettings.ofTask(conf("mapreduce.shuffle.rdma.pool.sise", "1g")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("did you mean mapreduce.shuffle.rdma.pool.size?");
    assertThatThrownBy(
            () ->
                MapReduceSettings.ofNodeManager(
                    conf("mapreduce.shuffle.rdma.nodemanager.pool.size", "1g")))
        .as("of no use to a NodeManager")
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("mapreduce.shuffle.rdma.nodemanager.pool.size");
  }

  @Test
  void aPortBeyondTheLastIsRefused() {
    PortRule rule =
        MapReduceSettings.ofTask(conf("mapreduce.shuffle.rdma.port.offset", "5000")).port();
    assertThatThrownBy(() -> rule.portFor(63_000))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("port.offset=5000")
        .hasMessageContaining("63000");
  }
}
