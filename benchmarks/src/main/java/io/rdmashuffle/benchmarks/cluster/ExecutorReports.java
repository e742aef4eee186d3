package io.rdmashuffle.benchmarks.cluster;

import io.rdmashuffle.spark.RdmaShuffleReport;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/**
 * What the shuffle of every executor of an application did so far, added up. Immutable; ways are
 * {@code read}, {@code inline}, {@code staged} and {@code netty}.
 */
public final class ExecutorReports {
  /** Ways, and the names that the plugin's counters have for them. */
  private static final Map<String, String> WAYS =
      Map.of("read", "read", "inline", "inline", "staged", "staged", "netty", "engine");

  private final List<RdmaShuffleReport> reports;

  private ExecutorReports(List<RdmaShuffleReport> reports) {
    this.reports = reports;
  }

  /**
   * Asks each executor, by a barrier stage: its tasks all run at the same time.
   *
   * @param executors how many there are, with one core each
   * @throws IllegalStateException if an executor was not reached or has another shuffle manager
   */
  public static ExecutorReports collect(SparkSession spark, int executors) {
    List<RdmaShuffleReport> reports =
        JavaSparkContext.fromSparkContext(spark.sparkContext())
            .parallelize(IntStream.range(0, executors).boxed().toList(), executors)
            .rdd()
            .barrier()
            .mapPartitions(new Report(), false, ClassTag$.MODULE$.apply(RdmaShuffleReport.class))
            .toJavaRDD()
            .collect();
    long distinct = reports.stream().map(RdmaShuffleReport::executorId).distinct().count();
    if (distinct != executors) {
      throw new IllegalStateException(distinct + " of " + executors + " executors reported");
    }
    return new ExecutorReports(reports);
  }

  public List<RdmaShuffleReport> reports() {
    return reports;
  }

  /** The device the executors chose, several joined by commas; null if none has any. */
  public String device() {
    TreeSet<String> devices =
        reports.stream()
            .map(RdmaShuffleReport::device)
            .filter(d -> !d.isEmpty())
            .collect(Collectors.toCollection(TreeSet::new));
    return devices.isEmpty() ? null : String.join(",", devices);
  }

  /** Remote blocks by the way they came. */
  public Map<String, Long> blocks() {
    return byWay("blocks.");
  }

  /** Their bytes. */
  public Map<String, Long> bytes() {
    return byWay("bytes.");
  }

  /** Blocks that came by Netty, by reason. */
  public Map<String, Long> fallbacks() {
    Map<String, Long> sums = new TreeMap<>();
    reports.forEach(r -> r.fallbackBlocks().forEach((k, v) -> sums.merge(k, v, Long::sum)));
    return sums;
  }

  private Map<String, Long> byWay(String prefix) {
    Map<String, Long> sums = new TreeMap<>();
    WAYS.forEach(
        (way, label) ->
            sums.put(way, reports.stream().mapToLong(r -> r.counter(prefix + label)).sum()));
    return sums;
  }

  /** {@code now} minus {@code before}, without what did not change. */
  public static Map<String, Long> difference(Map<String, Long> now, Map<String, Long> before) {
    Map<String, Long> difference = new TreeMap<>();
    now.forEach(
        (key, value) -> {
          long delta = value - before.getOrDefault(key, 0L);
          if (delta != 0) {
            difference.put(key, delta);
          }
        });
    return difference;
  }

  /** Runs in the tasks. */
  private static final class Report
      extends AbstractFunction1<Iterator<Integer>, Iterator<RdmaShuffleReport>>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public Iterator<RdmaShuffleReport> apply(Iterator<Integer> ignored) {
      RdmaShuffleReport report =
          RdmaShuffleReport.collect()
              .orElseThrow(() -> new IllegalStateException("another shuffle manager is in use"));
      return scala.package$.MODULE$.Iterator().single(report);
    }
  }
}
