package io.rdmashuffle.core.config;

import io.rdmashuffle.transport.device.DeviceSetting;
import java.time.Duration;
import java.util.List;

/** Every setting, in the order of the documentation. Keys are relative to the engine's prefix. */
public final class RdmaOptions {
  public static final ConfigOption<Mode> MODE =
      ConfigOption.oneOf("mode", Mode.class)
          .doc(
              "auto: RDMA where a usable device is found, else the engine's own shuffle, with one"
                  + " log line saying why. required: a process without RDMA fails its first task"
                  + " that shuffles, so that a job never runs slower unnoticed. off: never RDMA.")
          .defaultsTo(Mode.AUTO);

  public static final ConfigOption<DeviceSetting> DEVICE =
      ConfigOption.device("device")
          .doc(
              "The adapter to use. auto takes the fastest active port of a real adapter, never a"
                  + " software one (rxe, siw): those are slower than TCP and are only used when"
                  + " named. soft is the software adapter in this project's jar, for trying out.")
          .defaultsTo(DeviceSetting.AUTO);

  public static final ConfigOption<BindNetwork> BIND_ADDRESS =
      ConfigOption.network("bind.address")
          .doc(
              "Where to listen and dial, for hosts whose adapters have several addresses; a network"
                  + " fits all hosts of a cluster with one value. A process that has no address in"
                  + " it uses no RDMA.")
          .defaultsTo(BindNetwork.ANY);

  public static final ConfigOption<Boolean> ALLOW_UNENCRYPTED =
      ConfigOption.flag("allowUnencrypted")
          .doc(
              "Permits RDMA although the engine is told to encrypt its network and map outputs are"
                  + " not encrypted themselves. Blocks then cross the network in plain text, where"
                  + " the engine's own shuffle would encrypt them.")
          .defaultsTo(false);

  public static final ConfigOption<ByteSize> REGISTERED_MAX =
      ConfigOption.bytes("memory.registered.max")
          .doc(
              "All memory one process may have registered (pinned), windows over map outputs"
                  + " included. 0: the smaller of the memlock limit and the part of the memory"
                  + " overhead below. Pinned pages count as the container's memory: on YARN and"
                  + " Kubernetes it never exceeds that part, so raise the container's memory"
                  + " overhead together with it.")
          .between(ByteSize.bytes(0), ByteSize.gib(1024))
          .defaultsTo(ByteSize.bytes(0));

  public static final ConfigOption<Integer> OVERHEAD_SHARE =
      ConfigOption.percent("memory.overhead.share")
          .doc(
              "Part of the process's memory overhead that the shuffle may take: five sixths of it"
                  + " registered, a sixth, and what the memlock limit or memory.registered.max"
                  + " leave of the rest, for blocks that find no room in the pool (overflow memory,"
                  + " outside the heap, mapped when needed). In containers (YARN, Kubernetes) both"
                  + " together never take more, whatever memory.registered.max says. Standalone and"
                  + " local processes have no overhead: the larger of 384 MiB and a tenth of the"
                  + " heap counts for registered memory, and overflow memory is up to 256 MiB. More"
                  + " of it lets more blocks come by RDMA; the rest must do for threads, code and"
                  + " the engine's own network buffers.")
          .between(5, 90)
          .defaultsTo(60);

  public static final ConfigOption<ByteSize> POOL_SIZE =
      ConfigOption.bytes("pool.size")
          .doc(
              "Registered memory that fetched blocks land in; at most half of what may be"
                  + " registered is used. More keeps more blocks without a copy until the task has"
                  + " read them.")
          .between(ByteSize.mib(8), ByteSize.gib(64))
          .defaultsTo(ByteSize.mib(256));

  public static final ConfigOption<ByteSize> POOL_CHUNK =
      ConfigOption.bytes("pool.chunk")
          .doc(
              "Unit of the pool, halved for a small pool until it has 16 of them. Smaller wastes"
                  + " less on small blocks, larger needs fewer READs for big ones.")
          .between(ByteSize.kib(64), ByteSize.mib(64))
          .defaultsTo(ByteSize.mib(1));

  public static final ConfigOption<Integer> POOL_TRANSIT =
      ConfigOption.percent("pool.transit")
          .doc(
              "Part of the pool kept for blocks that are copied to overflow memory at once when"
                  + " tasks hold the rest. Fetching goes on through it however slowly tasks read;"
                  + " more of it leaves less for blocks without a copy.")
          .between(5, 50)
          .defaultsTo(12);

  public static final ConfigOption<ByteSize> READ_WINDOW =
      ConfigOption.bytes("read.window")
          .doc(
              "Payload one connection may have in flight as RDMA reads. Raise it when the link"
                  + " idles while fetches wait; one slow peer can then hold that much of the pool.")
          .between(ByteSize.kib(64), ByteSize.gib(1))
          .defaultsTo(ByteSize.mib(16));

  public static final ConfigOption<ByteSize> READ_SIZE =
      ConfigOption.bytes("read.size")
          .doc(
              "Longest single RDMA read; larger blocks are split. Larger costs less work per byte,"
                  + " smaller lets connections share the link more evenly.")
          .between(ByteSize.kib(4), ByteSize.mib(256))
          .defaultsTo(ByteSize.mib(1));

  public static final ConfigOption<Duration> FETCH_TIMEOUT =
      ConfigOption.duration("fetch.timeout")
          .doc(
              "From the request for blocks to the last of them; what is missing then comes through"
                  + " the engine's own shuffle. Shorter loses less time on a bad link, too short"
                  + " gives up on a merely busy one.")
          .between(Duration.ofMillis(100), Duration.ofMinutes(10))
          .defaultsTo(Duration.ofSeconds(30));

  public static final ConfigOption<Duration> DISCOVERY_TIMEOUT =
      ConfigOption.duration("discovery.timeout")
          .doc(
              "How long a peer may take to say where it listens. Blocks wait for it only once per"
                  + " peer.")
          .between(Duration.ofMillis(50), Duration.ofMinutes(2))
          .defaultsTo(Duration.ofSeconds(5));

  public static final ConfigOption<Duration> MEMORY_TIMEOUT =
      ConfigOption.duration("memory.timeout")
          .doc(
              "How long a block may wait for memory that is being copied out or mapped before the"
                  + " engine's own shuffle takes it. For memory that tasks hold it never waits.")
          .between(Duration.ofMillis(1), Duration.ofMinutes(1))
          .defaultsTo(Duration.ofMillis(500));

  public static final ConfigOption<ByteSize> INLINE_MAX =
      ConfigOption.bytes("inline.max")
          .doc(
              "Blocks up to this size travel inside the owner's answer and need no RDMA read."
                  + " Larger costs the owner a copy; answers hold 8 KiB in all.")
          .between(ByteSize.bytes(0), ByteSize.kib(4))
          .defaultsTo(ByteSize.bytes(512));

  public static final ConfigOption<ByteSize> WINDOW_SIZE =
      ConfigOption.bytes("window.size")
          .doc(
              "Largest part of a map output registered at a time. Larger registers less often for"
                  + " big blocks, smaller leaves room for more files within the same budget.")
          .between(ByteSize.kib(64), ByteSize.gib(1))
          .defaultsTo(ByteSize.mib(64));

  public static final ConfigOption<ByteSize> STAGING_SIZE =
      ConfigOption.bytes("staging.size")
          .doc(
              "Registered memory into which the owner copies blocks too small to be worth a window"
                  + " of their own.")
          .between(ByteSize.mib(1), ByteSize.gib(16))
          .defaultsTo(ByteSize.mib(32));

  public static final ConfigOption<ByteSize> STAGING_BELOW =
      ConfigOption.bytes("staging.below")
          .doc(
              "Blocks smaller than this are copied into staging memory when their part of the file"
                  + " is not registered; up to 16 times as long ones, too, while windows have to go"
                  + " before they have paid. Lower it where registering is cheap, raise it where"
                  + " map outputs are far larger than what may be registered.")
          .between(ByteSize.bytes(0), ByteSize.mib(16))
          .defaultsTo(ByteSize.kib(64));

  public static final ConfigOption<Duration> LOCATE_TIMEOUT =
      ConfigOption.duration("locate.timeout")
          .doc(
              "After which an owner answers with what is ready; the rest comes through the engine's"
                  + " own shuffle. Must be shorter than request.timeout.")
          .between(Duration.ofMillis(50), Duration.ofMinutes(1))
          .defaultsTo(Duration.ofSeconds(3));

  public static final ConfigOption<Duration> LEASE_REVOKE_TIMEOUT =
      ConfigOption.duration("lease.revoke.timeout")
          .doc(
              "How long a reader may go on reading a map output that is being removed; then its"
                  + " connection is closed.")
          .between(Duration.ofMillis(100), Duration.ofMinutes(5))
          .defaultsTo(Duration.ofSeconds(5));

  public static final ConfigOption<Integer> CONNECTIONS_MAX =
      ConfigOption.count("connections.max")
          .doc(
              "Connections of one process, both directions. Each costs a queue pair and registered"
                  + " frames; at the cap, idle old ones are closed and new peers use the engine's"
                  + " own shuffle for a while. Of the connections from other processes, each job"
                  + " (MapReduce) or each peer address (Spark) gets at most half of those that the"
                  + " others leave, so that others can always connect; but two.")
          .between(2, 65_536)
          .defaultsTo(512);

  public static final ConfigOption<Integer> REQUESTS_IN_FLIGHT =
      ConfigOption.count("requests.inflight")
          .doc(
              "Requests one connection may have unanswered. More hides a slow owner, each costs two"
                  + " frames of 8 KiB on both sides.")
          .between(2, 256)
          .defaultsTo(16);

  public static final ConfigOption<Integer> READS_IN_FLIGHT =
      ConfigOption.count("reads.inflight")
          .doc("RDMA reads one connection may have posted; the adapter may allow fewer at a time.")
          .between(1, 4096)
          .defaultsTo(128);

  public static final ConfigOption<Duration> CONNECT_TIMEOUT =
      ConfigOption.duration("connect.timeout")
          .doc("From dialling a peer to its welcome.")
          .between(Duration.ofMillis(50), Duration.ofMinutes(2))
          .defaultsTo(Duration.ofSeconds(5));

  public static final ConfigOption<Duration> REQUEST_TIMEOUT =
      ConfigOption.duration("request.timeout")
          .doc(
              "From a request to its answer, and from an RDMA read to its completion; missing it"
                  + " closes the connection.")
          .between(Duration.ofMillis(100), Duration.ofMinutes(5))
          .defaultsTo(Duration.ofSeconds(10));

  public static final ConfigOption<Duration> KEEP_ALIVE =
      ConfigOption.duration("keepalive.interval")
          .doc(
              "How often a silent reader shows that it lives; after three missed ones the owner"
                  + " takes its memory back.")
          .between(Duration.ofMillis(100), Duration.ofMinutes(5))
          .defaultsTo(Duration.ofSeconds(5));

  public static final ConfigOption<Duration> IDLE_TIMEOUT =
      ConfigOption.duration("idle.timeout")
          .doc(
              "After which an unused connection is closed. Shorter frees memory, longer saves"
                  + " dialling.")
          .between(Duration.ofSeconds(1), Duration.ofHours(24))
          .defaultsTo(Duration.ofMinutes(5));

  public static final ConfigOption<Duration> SPIN =
      ConfigOption.duration("spin")
          .doc(
              "How long the progress thread polls before it sleeps. Longer saves a wake-up per"
                  + " fetch and costs that much CPU each time there is nothing to do.")
          .between(Duration.ZERO, Duration.ofMillis(10))
          .defaultsTo(Duration.ofNanos(20_000));

  public static final ConfigOption<Duration> BREAKER_MIN =
      ConfigOption.duration("breaker.min")
          .doc(
              "How long a peer is left to the engine's own shuffle after a failure; doubles each"
                  + " time.")
          .between(Duration.ofMillis(10), Duration.ofMinutes(10))
          .defaultsTo(Duration.ofSeconds(1));

  public static final ConfigOption<Duration> BREAKER_MAX =
      ConfigOption.duration("breaker.max")
          .doc("Longest such pause.")
          .between(Duration.ofMillis(10), Duration.ofHours(1))
          .defaultsTo(Duration.ofMinutes(1));

  public static final ConfigOption<Integer> FALLBACK_THREADS =
      ConfigOption.count("fallback.threads")
          .doc(
              "Threads that hand blocks back to the engine's own shuffle and ask peers where they"
                  + " listen. Each may wait for one unreachable peer, so more of them tolerate more"
                  + " dead peers at a time. All are started before the adapter is opened, and end"
                  + " with the process.")
          .between(1, 256)
          .defaultsTo(8);

  private static final List<OptionSection> SECTIONS =
      List.of(
          new OptionSection("Switching on", List.of(MODE, DEVICE, BIND_ADDRESS, ALLOW_UNENCRYPTED)),
          new OptionSection(
              "Memory",
              List.of(REGISTERED_MAX, OVERHEAD_SHARE, POOL_SIZE, POOL_CHUNK, POOL_TRANSIT)),
          new OptionSection(
              "Reading",
              List.of(READ_WINDOW, READ_SIZE, FETCH_TIMEOUT, DISCOVERY_TIMEOUT, MEMORY_TIMEOUT)),
          new OptionSection(
              "Serving",
              List.of(
                  INLINE_MAX,
                  WINDOW_SIZE,
                  STAGING_SIZE,
                  STAGING_BELOW,
                  LOCATE_TIMEOUT,
                  LEASE_REVOKE_TIMEOUT)),
          new OptionSection(
              "Connections",
              List.of(
                  CONNECTIONS_MAX,
                  REQUESTS_IN_FLIGHT,
                  READS_IN_FLIGHT,
                  CONNECT_TIMEOUT,
                  REQUEST_TIMEOUT,
                  KEEP_ALIVE,
                  IDLE_TIMEOUT,
                  SPIN)),
          new OptionSection("Falling back", List.of(BREAKER_MIN, BREAKER_MAX, FALLBACK_THREADS)));

  private RdmaOptions() {}

  /** All options, by topic, in the order of the documentation. */
  static List<OptionSection> sections() {
    return SECTIONS;
  }

  static List<ConfigOption<?>> all() {
    return OptionSection.allOf(SECTIONS);
  }
}
