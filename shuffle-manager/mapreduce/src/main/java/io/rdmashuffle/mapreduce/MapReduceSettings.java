package io.rdmashuffle.mapreduce;

import io.rdmashuffle.core.adapter.DeviceSpec;
import io.rdmashuffle.core.config.ConfigOption;
import io.rdmashuffle.core.config.ConfigReader;
import io.rdmashuffle.core.config.OptionSection;
import io.rdmashuffle.core.config.RdmaOptions;
import io.rdmashuffle.core.config.RdmaSettings;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.OverflowLimit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.apache.hadoop.conf.Configuration;

/**
 * What Hadoop's configuration means for one process of the shuffle. Immutable.
 *
 * @param mode whether to use RDMA
 * @param device which adapter
 * @param port where NodeManagers listen
 * @param transport how the process serves or reads
 */
public record MapReduceSettings(
    Switch mode, DeviceSpec device, PortRule port, TransportSettings transport) {
  /** Counts as registered where the memlock limit alone bounds that. */
  private static final long DEFAULT_BYTES = 64L << 20;

  private static final int OVERFLOW_PART = 4;

  /**
   * Of a reduce task, from its job's configuration.
   *
   * @throws io.rdmashuffle.core.config.ConfigException naming key, value and range
   */
  public static MapReduceSettings ofTask(Configuration job) {
    List<ConfigOption<?>> options = OptionSection.allOf(MapReduceOptions.taskSections());
    List<ConfigOption<?>> known = new ArrayList<>(options);
    known.addAll(MapReduceOptions.ports().options());
    ConfigReader reader = reader(MapReduceOptions.TASK_PREFIX, job);
    reader.refuseUnknown(
        keys(job).filter(k -> !k.startsWith(MapReduceOptions.NODE_PREFIX)).toList(), known);
    return from(reader.withDefaultsOf(options), PortRule.from(reader));
  }

  /**
   * Of a NodeManager.
   *
   * @throws io.rdmashuffle.core.config.ConfigException naming key, value and range
   */
  public static MapReduceSettings ofNodeManager(Configuration node) {
    List<ConfigOption<?>> options = OptionSection.allOf(MapReduceOptions.nodeSections());
    ConfigReader reader = reader(MapReduceOptions.NODE_PREFIX, node);
    reader.refuseUnknown(keys(node).toList(), options);
    PortRule port = PortRule.from(reader(MapReduceOptions.TASK_PREFIX, node));
    return from(reader.withDefaultsOf(options), port);
  }

  private static MapReduceSettings from(ConfigReader reader, PortRule port) {
    Switch mode = reader.read(MapReduceOptions.MODE);
    RdmaSettings rdma = RdmaSettings.from(reader);
    long bytes = rdma.memory().registeredMaxBytes();
    MemoryBudget.Bound memory =
        new MemoryBudget.Bound(
            bytes == 0 ? Long.MAX_VALUE : bytes,
            reader.fullKey(RdmaOptions.REGISTERED_MAX),
            "raise it");
    return new MapReduceSettings(
        mode,
        DeviceSpec.of(rdma, reader),
        port,
        new TransportSettings(
            rdma.channel(),
            rdma.server(),
            rdma.client(),
            memory,
            overflow(bytes, rdma.client().poolBytes())));
  }

  /** A quarter beside what may be registered; with a memlock limit below that, all of the rest. */
  private static OverflowLimit overflow(long registeredMaxBytes, long poolBytes) {
    long registered =
        registeredMaxBytes == 0 ? Math.max(DEFAULT_BYTES, poolBytes) : registeredMaxBytes;
    long least = registered / OVERFLOW_PART;
    return new OverflowLimit(least, registered + least);
  }

  private static ConfigReader reader(String prefix, Configuration conf) {
    return new ConfigReader(prefix, conf::get);
  }

  private static Stream<String> keys(Configuration conf) {
    return StreamSupport.stream(conf.spliterator(), false).map(Map.Entry::getKey);
  }

  /** Whether it was switched off by the user. */
  public boolean isOff() {
    return mode == Switch.OFF;
  }
}
