package io.rdmashuffle.spark;

import io.rdmashuffle.transport.NanoClock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerMaster;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * The block transfer ports of executors, where map outputs name the external shuffle service's port
 * instead. Asks the driver, for all executors at a time and not more often than every few seconds.
 *
 * <p><b>Threads:</b> any; the lookup may wait for the driver.
 */
final class ExecutorPorts {
  private static final long REFRESH_NS = Duration.ofSeconds(10).toNanos();

  private final Supplier<Map<String, Integer>> source;
  private final NanoClock clock;
  private Map<String, Integer> ports = Map.of();
  private long refreshedNs;
  private boolean refreshed;

  ExecutorPorts(Supplier<Map<String, Integer>> source, NanoClock clock) {
    this.source = source;
    this.clock = clock;
  }

  static ExecutorPorts of(Supplier<BlockManagerMaster> master, NanoClock clock) {
    return new ExecutorPorts(() -> askDriver(master.get()), clock);
  }

  /** Empty for an executor that is gone: then only the shuffle service has its blocks. */
  synchronized OptionalInt portOf(String executorId) { // one question to the driver at a time
    long nowNs = clock.nanoTime();
    if (!ports.containsKey(executorId) && (!refreshed || nowNs - refreshedNs >= REFRESH_NS)) {
      ports = source.get();
      refreshedNs = nowNs;
      refreshed = true;
    }
    Integer port = ports.get(executorId);
    return port == null ? OptionalInt.empty() : OptionalInt.of(port);
  }

  private static Map<String, Integer> askDriver(BlockManagerMaster master) {
    Map<String, Integer> ports = new HashMap<>();
    Iterator<Tuple2<BlockManagerId, Tuple2<Object, Object>>> all =
        master.getMemoryStatus().iterator();
    while (all.hasNext()) {
      BlockManagerId id = all.next()._1();
      ports.put(id.executorId(), id.port());
    }
    return ports;
  }
}
