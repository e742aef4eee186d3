package io.rdmashuffle.it.spark;

import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.it.app.ExecutorProcesses;
import io.rdmashuffle.it.app.SoakApplication;
import io.rdmashuffle.it.app.SoakResult;
import java.io.IOException;
import java.nio.file.Files;
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

  private final TestCluster cluster;
  private final SparkSubmit.Run run;
  private final long latestQuietNs;

  private SubmittedSoak(TestCluster cluster, SparkSubmit.Run run, long seconds) {
    this.cluster = cluster;
    this.run = run;
    this.latestQuietNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds) + LIMIT.toNanos();
  }

  /**
   * @param rules faults of the software adapter in every executor, in its own language
   */
  static SubmittedSoak start(int executors, long seconds, long seed, String rules)
      throws IOException {
    TestCluster cluster = TestCluster.fresh("soak");
    SparkSubmit submit =
        cluster
            .submit(SoakApplication.class)
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
    return new SubmittedSoak(cluster, run, seconds);
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
    return !run.process().isAlive()
        || Files.exists(cluster.stdout()) && Files.readString(cluster.stdout()).contains("QUIET\n");
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
