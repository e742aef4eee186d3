package io.rdmashuffle.it.app;

import io.rdmashuffle.spark.RdmaShuffleReport;
import java.io.File;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;
import scala.collection.Iterator;
import scala.reflect.ClassTag$;
import scala.runtime.AbstractFunction1;

/** What one executor's process holds at a moment. A bean, for JSON. */
public final class ExecutorState implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final List<String> LEVELS =
      List.of(
          "leases",
          "pool.chunks-out",
          "overflow.chunks-out",
          "overflow-bytes",
          "outputs",
          "connections",
          "threads",
          "registered-bytes.windows",
          "registered-bytes.staging",
          "registered-bytes.reader-pool",
          "registered-bytes.messages");

  public String executorId;

  /** Levels of the plugin, by name. */
  public TreeMap<String, Long> levels = new TreeMap<>();

  public long registeredBytes;
  public long registrations;

  /** Entries of /proc/self/fd. */
  public int descriptors;

  /** Lines of /proc/self/maps. */
  public int mappings;

  /** Those of them that map a shuffle file, deleted ones included. */
  public int shuffleMappings;

  /** Open shuffle files, deleted ones included. */
  public int shuffleDescriptors;

  /** What became of threads that went on reading after their task. */
  public TreeMap<String, Long> lateReaders = new TreeMap<>();

  /**
   * Asks each executor, by a barrier stage: its tasks all run at the same time.
   *
   * @param executors how many there are, with one core each
   */
  public static List<ExecutorState> collect(SparkSession spark, int executors) {
    return JavaSparkContext.fromSparkContext(spark.sparkContext())
        .parallelize(IntStream.range(0, executors).boxed().toList(), executors)
        .rdd()
        .barrier()
        .mapPartitions(new Look(), false, ClassTag$.MODULE$.apply(ExecutorState.class))
        .toJavaRDD()
        .collect();
  }

  /** Of the process this runs in. */
  private static ExecutorState here() throws IOException {
    RdmaShuffleReport report =
        RdmaShuffleReport.collect()
            .orElseThrow(() -> new IllegalStateException("another shuffle manager is in use"));
    ExecutorState state = new ExecutorState();
    state.executorId = report.executorId();
    LEVELS.forEach(label -> state.levels.put(label, report.level(label)));
    state.registeredBytes = report.registeredBytes();
    state.registrations = report.counter("registrations");
    for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
      state.mappings++;
      state.shuffleMappings += line.contains("/shuffle_") ? 1 : 0;
    }
    for (File descriptor : new File("/proc/self/fd").listFiles()) {
      state.descriptors++;
      state.shuffleDescriptors += leadsToShuffleFile(descriptor.toPath()) ? 1 : 0;
    }
    state.lateReaders.putAll(LateReader.outcomes());
    return state;
  }

  private static boolean leadsToShuffleFile(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString().contains("/shuffle_");
    } catch (IOException e) {
      return false; // closed meanwhile
    }
  }

  /** Whether nothing of any shuffle is left here. */
  boolean isAtRest() {
    return levels.get("leases") == 0
        && levels.get("pool.chunks-out") == 0
        && levels.get("overflow-bytes") == 0
        && levels.get("outputs") == 0
        && levels.get("registered-bytes.windows") == 0
        && shuffleMappings == 0
        && shuffleDescriptors == 0;
  }

  @Override
  public String toString() {
    return "executor "
        + executorId
        + ": "
        + levels
        + ", "
        + Map.of(
            "descriptors", descriptors,
            "mappings", mappings,
            "shuffle mappings", shuffleMappings,
            "shuffle descriptors", shuffleDescriptors)
        + ", late readers "
        + lateReaders;
  }

  /** Runs in the tasks. */
  private static final class Look
      extends AbstractFunction1<Iterator<Integer>, Iterator<ExecutorState>>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public Iterator<ExecutorState> apply(Iterator<Integer> ignored) {
      try {
        return scala.package$.MODULE$.Iterator().single(here());
      } catch (IOException e) {
        throw new java.io.UncheckedIOException(e);
      }
    }
  }
}
