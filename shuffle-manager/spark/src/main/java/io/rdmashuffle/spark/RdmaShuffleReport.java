package io.rdmashuffle.spark;

import io.rdmashuffle.spark.runtime.RuntimeSnapshot;
import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What the shuffle of one process did so far; for demonstrations and tests. Called in a task it
 * reports of the task's executor, and travels back as the task's result:
 *
 * <pre>{@code
 * sc.parallelize(numbers, executors).map(x -> RdmaShuffleReport.collect()).collect()
 * }</pre>
 *
 * <p>Immutable. A plain class rather than a record, because Spark's Kryo 4 cannot read records.
 */
public final class RdmaShuffleReport implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String executorId;
  private final String device;
  private final String absence;
  private final HashMap<String, Long> counters;
  private final HashMap<String, Long> fallbackBlocks;
  private final HashMap<String, Long> levels;
  private final long readP50Ns;
  private final long readP99Ns;

  private RdmaShuffleReport(String executorId, RuntimeSnapshot snapshot) {
    this.executorId = executorId;
    this.device = snapshot.device();
    this.absence = snapshot.absence();
    this.counters = new HashMap<>(snapshot.counters());
    this.fallbackBlocks = new HashMap<>(snapshot.fallbackBlocks());
    this.levels = new HashMap<>(snapshot.levels());
    this.readP50Ns = snapshot.readP50Ns();
    this.readP99Ns = snapshot.readP99Ns();
  }

  /**
   * Of this process.
   *
   * @return empty if the process uses another shuffle manager
   */
  public static Optional<RdmaShuffleReport> collect() {
    return SparkHost.manager()
        .map(ours -> new RdmaShuffleReport(SparkHost.env().executorId(), ours.snapshot()));
  }

  public String executorId() {
    return executorId;
  }

  /** The adapter in use, empty if none. */
  public String device() {
    return device;
  }

  /** Why no adapter is in use, empty if one is. */
  public String absence() {
    return absence;
  }

  /**
   * One of the counters, by the name that the metrics system shows as well, such as {@code
   * bytes.read} or {@code blocks.engine}.
   *
   * @return 0 for one that was never counted
   */
  public long counter(String label) {
    return counters.getOrDefault(label, 0L);
  }

  /**
   * Blocks that came through Spark's own shuffle, by reason; without reasons that never occurred.
   */
  public Map<String, Long> fallbackBlocks() {
    return Map.copyOf(fallbackBlocks);
  }

  /** All memory that is registered with the adapter now, whatever for. */
  public long registeredBytes() {
    return levels.entrySet().stream()
        .filter(level -> level.getKey().startsWith("registered-bytes."))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /** What is registered, leased, connected and catalogued now, such as {@code connections}. */
  public long level(String label) {
    return levels.getOrDefault(label, 0L);
  }

  /**
   * Median time of a chain of READs, as the upper bound of its power of two; 0 before the first.
   */
  public long readP50Ns() {
    return readP50Ns;
  }

  /** As {@link #readP50Ns}, for the 99th percentile. */
  public long readP99Ns() {
    return readP99Ns;
  }

  @Override
  public String toString() {
    return "executor "
        + executorId
        + (device.isEmpty() ? " without RDMA (" + absence + ")" : " on " + device)
        + ": "
        + new TreeMap<>(counters)
        + ", fallbacks "
        + fallbackBlocks
        + ", now "
        + new TreeMap<>(levels);
  }
}
