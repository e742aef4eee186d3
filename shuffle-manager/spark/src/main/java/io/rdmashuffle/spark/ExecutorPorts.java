package io.rdmashuffle.spark;

import io.rdmashuffle.transport.NanoClock;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.storage.BlockManagerMaster;
import scala.Tuple2;
import scala.collection.Iterator;

/**
 * The block transfer ports of executors, where map outputs name the external shuffle service's port
 * instead. Asks the driver, for all executors at a time and not more often than every second.
 *
 * <p>An executor registers with the driver before its map outputs do. So one that is missing in a
 * table which was asked for after the question came is gone; one that is missing in an earlier
 * table may be new.
 *
 * <p><b>Threads:</b> any; the lookup may wait for the driver.
 */
final class ExecutorPorts {
  private static final long REFRESH_NS = Duration.ofSeconds(1).toNanos();

  private final Supplier<Map<String, Integer>> source;
  private final NanoClock clock;
  private Map<String, Integer> ports = Map.of();
  private long refreshedNs;
  private boolean refreshed;

  /** Where an executor is. */
  sealed interface Place {}

  /** Its own port. */
  record At(int port) implements Place {}

  /** It is gone: only the shuffle service has its blocks. */
  record Gone() implements Place {}

  /** It may have registered since the driver was asked last. */
  record Unknown() implements Place {}

  ExecutorPorts(Supplier<Map<String, Integer>> source, NanoClock clock) {
    this.source = source;
    this.clock = clock;
  }

  static ExecutorPorts of(Supplier<BlockManagerMaster> master, NanoClock clock) {
    return new ExecutorPorts(() -> askDriver(master.get()), clock);
  }

  Place find(String executorId) {
    return find(executorId, clock.nanoTime());
  }

  // One question to the driver at a time; who waits for it is answered by it.
  private synchronized Place find(String executorId, long askedNs) {
    Integer port = ports.get(executorId);
    if (port == null && isOlderThan(REFRESH_NS, clock.nanoTime())) {
      long beforeNs = clock.nanoTime();
      ports = source.get();
      refreshedNs = beforeNs;
      refreshed = true;
      port = ports.get(executorId);
    }
    if (port != null) {
      return new At(port);
    }
    return isOlderThan(1, askedNs) ? new Unknown() : new Gone();
  }

  /** Whether the driver was asked for the table at least that long before a moment, or never. */
  private boolean isOlderThan(long ageNs, long nowNs) {
    return !refreshed || nowNs - refreshedNs >= ageNs;
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
