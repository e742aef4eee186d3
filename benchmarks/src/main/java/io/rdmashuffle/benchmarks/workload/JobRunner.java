package io.rdmashuffle.benchmarks.workload;

import io.rdmashuffle.benchmarks.cluster.ExecutorReports;
import io.rdmashuffle.spark.RdmaShuffleReport;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSession;

/**
 * Runs workloads in an application and records what came which way. Works under the stock shuffle,
 * where every remote block comes by Netty, and under this one. One thread at a time, in the driver.
 */
public final class JobRunner {
  private static final long LISTENER_LIMIT_MS = 30_000;

  private final SparkSession spark;
  private final int executors;
  private final boolean withPlugin;

  /**
   * @param executors how many the cluster has, one core each
   */
  public JobRunner(SparkSession spark, int executors) {
    this.spark = spark;
    this.executors = executors;
    this.withPlugin =
        SparkEnv.get().conf().get("spark.shuffle.manager", "sort").contains("RdmaShuffleManager");
  }

  /** Runs all of them and tells of each as it ends. */
  public RunResult run(List<Workload> workloads, Consumer<String> progress) throws Exception {
    RunResult result = new RunResult();
    result.versions.put("spark", spark.version());
    result.versions.put("scala", scala.util.Properties.versionNumberString());
    result.versions.put("java", Runtime.version().toString());
    result.versions.put(
        "os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    for (Workload workload : workloads) {
      JobResult job = run(workload);
      result.jobs.add(job);
      progress.accept(
          String.format(Locale.ROOT, "%-14s %6.1f s  %s", job.name, job.seconds, job.digest));
    }
    if (withPlugin) {
      result.device = reports().device();
      result.versions.put("rdma-shuffle", pluginVersion());
    }
    return result;
  }

  private JobResult run(Workload workload) throws Exception {
    ExecutorReports before = withPlugin ? reports() : null;
    RemoteReads remote = new RemoteReads();
    spark.sparkContext().addSparkListener(remote);
    JobResult job = new JobResult();
    job.name = workload.name();
    long begin = System.nanoTime();
    job.digest = workload.run(spark);
    job.seconds = (System.nanoTime() - begin) / 1e9;
    spark.sparkContext().listenerBus().waitUntilEmpty(LISTENER_LIMIT_MS);
    spark.sparkContext().removeSparkListener(remote);
    job.engineBlocks = remote.blocks();
    if (withPlugin) {
      ExecutorReports after = reports();
      job.blocks = ExecutorReports.difference(after.blocks(), before.blocks());
      job.bytes = ExecutorReports.difference(after.bytes(), before.bytes());
      job.fallbacks = ExecutorReports.difference(after.fallbacks(), before.fallbacks());
    } else {
      job.blocks = Map.of("netty", remote.blocks());
      job.bytes = Map.of("netty", remote.bytes());
    }
    return job;
  }

  private ExecutorReports reports() {
    return ExecutorReports.collect(spark, executors);
  }

  private static String pluginVersion() {
    String version = RdmaShuffleReport.class.getPackage().getImplementationVersion();
    return version == null ? "unknown: not loaded from the plugin jar" : version;
  }
}
