package io.rdmashuffle.mapreduce;

import io.rdmashuffle.core.config.ByteSize;
import io.rdmashuffle.core.config.ConfigOption;
import io.rdmashuffle.core.config.OptionSection;
import io.rdmashuffle.core.config.RdmaOptions;
import java.time.Duration;
import java.util.List;

/**
 * Every setting of the shuffle of MapReduce, in the order of the documentation. Reduce tasks read
 * theirs under {@link #TASK_PREFIX}, NodeManagers under {@link #NODE_PREFIX}: a NodeManager loads
 * {@code mapred-site.xml} as well, and must not take what is meant for a container of one gigabyte.
 */
final class MapReduceOptions {
  static final String TASK_PREFIX = "mapreduce.shuffle.rdma.";
  static final String NODE_PREFIX = TASK_PREFIX + "nodemanager.";

  static final ConfigOption<Switch> MODE =
      ConfigOption.oneOf("mode", Switch.class)
          .doc(
              "auto: RDMA where a usable device is found, else HTTP, with one log line saying why."
                  + " off: HTTP.")
          .defaultsTo(Switch.AUTO);

  static final ConfigOption<Integer> PORT =
      ConfigOption.count("port")
          .doc(
              "Port on which every NodeManager listens for RDMA connections. 0: the port of HTTP"
                  + " (mapreduce.shuffle.port) plus port.offset, which also fits several"
                  + " NodeManagers on one host.")
          .between(0, 65_535)
          .defaultsTo(0);

  static final ConfigOption<Integer> PORT_OFFSET =
      ConfigOption.count("port.offset")
          .doc("How far the RDMA port is above that of HTTP while port is 0.")
          .between(1, 10_000)
          .defaultsTo(1);

  private static final ConfigOption<ByteSize> TASK_REGISTERED_MAX =
      RdmaOptions.REGISTERED_MAX.adapted(
          "All memory one reduce task may have registered (pinned). 0: as much as the container's"
              + " memlock limit. A quarter as much again is kept for pieces of segments that find"
              + " no room there (overflow memory, mapped when needed): 16 MiB by default, and more"
              + " where the memlock limit is below this value, so that both together stay the same."
              + " Both lie outside the Java heap and count as the container's memory: raise"
              + " mapreduce.reduce.memory.mb together with them.",
          ByteSize.mib(64));

  private static final ConfigOption<ByteSize> TASK_POOL_SIZE =
      RdmaOptions.POOL_SIZE.adapted(
          "Registered memory that pieces of segments land in, shared by the task's fetchers"
              + " (mapreduce.reduce.shuffle.parallelcopies); at most nine tenths of what may be"
              + " registered is used. More keeps more READs in flight.",
          ByteSize.mib(48));

  private static final ConfigOption<Duration> TASK_IDLE_TIMEOUT =
      RdmaOptions.IDLE_TIMEOUT.adapted(
          "After which an unused connection is closed. A reduce task visits one NodeManager after"
              + " the other, and each serves many tasks: shorter frees memory on both sides, longer"
              + " saves dialling for the maps that end later.",
          Duration.ofSeconds(10));

  private static final ConfigOption<Duration> TASK_BREAKER_MIN =
      RdmaOptions.BREAKER_MIN.adapted(
          "How long a NodeManager is left to HTTP after a failure; doubles each time. Where packets"
              + " to it are dropped, each new try costs a fetcher connect.timeout: longer wastes"
              + " less on such hosts, shorter comes back sooner to those that only stumbled.",
          Duration.ofSeconds(10));

  private static final ConfigOption<ByteSize> NODE_REGISTERED_MAX =
      RdmaOptions.REGISTERED_MAX.adapted(
          "All memory the NodeManager may have registered (pinned) for all jobs together, windows"
              + " over map outputs included. 0: as much as its memlock limit. Windows are pages of"
              + " the page cache that cannot be dropped: leave room for the containers.",
          ByteSize.gib(1));

  private static final ConfigOption<ByteSize> NODE_STAGING_SIZE =
      RdmaOptions.STAGING_SIZE.adapted(
          "Registered memory, for each job that has readers, into which segments are copied that"
              + " are not worth a window of their own, or lie where files cannot be registered."
              + " Several jobs divide a quarter of memory.registered.max evenly, and have no more"
              + " than this each.",
          ByteSize.mib(32));

  private static final OptionSection PORTS =
      new OptionSection("Ports: the same on NodeManagers and in jobs", List.of(PORT, PORT_OFFSET));

  private static final List<OptionSection> TASK_SECTIONS =
      List.of(
          new OptionSection(
              "Reduce tasks: switching on",
              List.of(MODE, RdmaOptions.DEVICE, RdmaOptions.BIND_ADDRESS)),
          new OptionSection(
              "Reduce tasks: memory",
              List.of(
                  TASK_REGISTERED_MAX,
                  TASK_POOL_SIZE,
                  RdmaOptions.POOL_CHUNK,
                  RdmaOptions.POOL_TRANSIT.withDefault(25))),
          new OptionSection(
              "Reduce tasks: reading",
              List.of(
                  RdmaOptions.READ_WINDOW.withDefault(ByteSize.mib(8)),
                  RdmaOptions.READ_SIZE,
                  RdmaOptions.FETCH_TIMEOUT,
                  RdmaOptions.MEMORY_TIMEOUT,
                  RdmaOptions.CONNECTIONS_MAX,
                  RdmaOptions.REQUESTS_IN_FLIGHT.withDefault(2),
                  RdmaOptions.READS_IN_FLIGHT,
                  RdmaOptions.CONNECT_TIMEOUT.withDefault(Duration.ofSeconds(3)),
                  RdmaOptions.REQUEST_TIMEOUT,
                  TASK_IDLE_TIMEOUT,
                  RdmaOptions.SPIN,
                  TASK_BREAKER_MIN,
                  RdmaOptions.BREAKER_MAX)));

  private static final List<OptionSection> NODE_SECTIONS =
      List.of(
          new OptionSection(
              "NodeManagers: switching on",
              List.of(MODE, RdmaOptions.DEVICE, RdmaOptions.BIND_ADDRESS)),
          new OptionSection(
              "NodeManagers: memory", List.of(NODE_REGISTERED_MAX, NODE_STAGING_SIZE)),
          new OptionSection(
              "NodeManagers: serving",
              List.of(
                  RdmaOptions.INLINE_MAX,
                  RdmaOptions.WINDOW_SIZE,
                  RdmaOptions.STAGING_BELOW,
                  RdmaOptions.LOCATE_TIMEOUT,
                  RdmaOptions.LEASE_REVOKE_TIMEOUT)),
          new OptionSection(
              "NodeManagers: connections",
              List.of(
                  RdmaOptions.CONNECTIONS_MAX.withDefault(1024),
                  RdmaOptions.REQUESTS_IN_FLIGHT.withDefault(4),
                  RdmaOptions.CONNECT_TIMEOUT,
                  RdmaOptions.REQUEST_TIMEOUT,
                  RdmaOptions.KEEP_ALIVE,
                  RdmaOptions.SPIN)));

  private MapReduceOptions() {}

  static OptionSection ports() {
    return PORTS;
  }

  /** Those of reduce tasks, but for the ports. */
  static List<OptionSection> taskSections() {
    return TASK_SECTIONS;
  }

  /** Those of NodeManagers, but for the ports. */
  static List<OptionSection> nodeSections() {
    return NODE_SECTIONS;
  }
}
