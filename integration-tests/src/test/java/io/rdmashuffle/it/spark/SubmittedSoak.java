package io.rdmashuffle.it.spark;

import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.it.app.ExecutorProcesses;
import io.rdmashuffle.it.app.SoakApplication;
import io.rdmashuffle.it.app.SoakResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A running {@link SoakApplication} whose executors a test may kill or stop. One thread at a time;
 * closing it ends whatever still runs.
 */
final class SubmittedSoak implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofMinutes(4);
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(200);

  /** An executor that has an adapter takes a fault much sooner. */
  private static final long FAULT_LIMIT_NS = TimeUnit.SECONDS.toNanos(3);

  private final TestCluster cluster;
  private final SparkSubmit.Run run;
  private final String rules;
  private final long seconds;
  private final long latestQuietNs;
  private long endNs;

  private SubmittedSoak(TestCluster cluster, SparkSubmit.Run run, String rules, long seconds) {
    this.cluster = cluster;
    this.run = run;
    this.rules = rules;
    this.seconds = seconds;
    this.latestQuietNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds) + LIMIT.toNanos();
  }

  /**
   * @param rules faults of the software adapter in every executor, in its own language
   */
  static SubmittedSoak start(int executors, long seconds, long seed, String rules)
      throws Exception {
    TestCluster cluster = TestCluster.fresh("soak");
    SparkSubmit submit =
        cluster
            .submit(SoakApplication.class)
            .launcher(ThreadLimit.launcher())
            .set("spark.executor.memory", "640m")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.shuffle.sort.bypassMergeThreshold", "4")
            .set("spark.sql.shuffle.partitions", "6")
            .set("spark.sql.autoBroadcastJoinThreshold", "-1")
            .set("spark.shuffle.detectCorrupt.useExtraMemory", "true")
            .set("spark.shuffle.manager", "io.rdmashuffle.spark.RdmaShuffleManager")
            .set("spark.shuffle.rdma.device", "soft")
            .set("spark.shuffle.rdma.pool.size", "8m")
            .set("spark.shuffle.rdma.request.timeout", "3s")
            .set("spark.shuffle.rdma.locate.timeout", "2s")
            .set("spark.shuffle.io.retryWait", "1s")
            .set("spark.task.maxFailures", "20")
            .set("spark.stage.maxConsecutiveAttempts", "50")
            .set("spark.executorEnv.SOFTHCA_FAULTS", rules)
            .set("spark.executorEnv.SOFTHCA_FAULTS_FILE", faultsFile(cluster, "%p").toString())
            .driverOption("-Xmx512m");
    SparkSubmit.Run run =
        submit.start(
            "local-cluster[" + executors + ",1,640]",
            List.of(
                cluster.resultFile().toString(),
                String.valueOf(executors),
                String.valueOf(seconds),
                String.valueOf(seed)),
            cluster.stdout(),
            cluster.stderr());
    return new SubmittedSoak(cluster, run, rules, seconds);
  }

  private static Path faultsFile(TestCluster cluster, String pid) {
    return cluster.home().folder().resolve("faults-" + pid);
  }

  /**
   * Adds a fault to the adapter of an executor, and sets the standing ones anew.
   *
   * @return whether the executor had an adapter to take it
   */
  boolean fault(ProcessHandle executor, String rule) throws IOException {
    Path file = faultsFile(cluster, String.valueOf(executor.pid()));
    Path unfinished = Path.of(file + ".new");
    Files.writeString(unfinished, "clear;" + rules + ";" + rule + "\n");
    Files.move(unfinished, file);
    long deadlineNs = System.nanoTime() + FAULT_LIMIT_NS;
    while (Files.exists(file) && System.nanoTime() < deadlineNs) {
      LockSupport.parkNanos(POLL_NS / 10);
    }
    return !Files.deleteIfExists(file);
  }

  /** Waits until the first job runs; all executors are there then, or soon. */
  void awaitFirstJob() throws IOException {
    while (!isQuiet() && !output().contains("JOB 0 ")) {
      LockSupport.parkNanos(POLL_NS);
    }
    endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
  }

  /** Until the jobs end. */
  long remainingMs() {
    return TimeUnit.NANOSECONDS.toMillis(endNs - System.nanoTime());
  }

  /** Executors that were ever started. */
  int executorsStarted() throws IOException {
    return cluster.executorLogs().size();
  }

  /** The executors' processes, oldest first. */
  List<ProcessHandle> executorProcesses() {
    return ExecutorProcesses.of(run.process().toHandle());
  }

  /**
   * Whether the application is done with its jobs, or has ended.
   *
   * @throws IOException if it takes far longer than it should
   */
  boolean isQuiet() throws IOException {
    if (System.nanoTime() > latestQuietNs) {
      throw new IOException("the soak does not come to its end, driver's log " + cluster.stderr());
    }
    return !run.process().isAlive() || output().contains("QUIET\n");
  }

  private String output() throws IOException {
    return Files.exists(cluster.stdout()) ? Files.readString(cluster.stdout()) : "";
  }

  /** Waits that long, or until it is quiet. */
  void awaitQuiet(long milliseconds) throws IOException {
    long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
    while (!isQuiet() && System.nanoTime() < deadlineNs) {
      LockSupport.parkNanos(POLL_NS);
    }
  }

  SoakResult finish() throws Exception {
    return cluster.result(run.await(LIMIT), SoakResult.class);
  }

  @Override
  public void close() {
    run.close();
  }
}
