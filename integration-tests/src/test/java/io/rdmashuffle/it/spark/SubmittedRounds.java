package io.rdmashuffle.it.spark;

import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.it.app.ExecutorProcesses;
import io.rdmashuffle.it.app.Halt;
import io.rdmashuffle.it.app.RoundsApplication;
import io.rdmashuffle.it.app.RoundsResult;
import io.rdmashuffle.transport.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * A running {@link RoundsApplication} whose executors a test may kill or stop. One thread at a
 * time; closing it ends whatever still runs.
 */
final class SubmittedRounds implements AutoCloseable {
  private static final Duration LIMIT = Patience.of(Duration.ofMinutes(4));
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(50);

  private final TestCluster cluster;
  private final SparkSubmit submit;
  private final int rounds;
  private final int executors;
  private final List<String> halts = new ArrayList<>();
  private int standstillSeconds;
  private SparkSubmit.Run run;

  SubmittedRounds(String name, int rounds, int executors) throws IOException {
    this.rounds = rounds;
    this.executors = executors;
    this.cluster = TestCluster.fresh(name);
    this.submit =
        cluster
            .submit(RoundsApplication.class)
            .set("spark.executor.memory", "512m")
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.shuffle.sort.bypassMergeThreshold", "1")
            .set("spark.shuffle.manager", "io.rdmashuffle.spark.RdmaShuffleManager")
            .set("spark.shuffle.rdma.device", "soft")
            .set("spark.shuffle.rdma.request.timeout", "3s")
            .set("spark.shuffle.rdma.locate.timeout", "2s")
            .set("spark.shuffle.io.retryWait", "1s")
            .set("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "3s")
            .driverOption("-Xmx512m");
  }

  SubmittedRounds set(String key, String value) {
    submit.set(key, value);
    return this;
  }

  /** A command that runs driver and executors. */
  SubmittedRounds launcher(List<String> words) {
    submit.launcher(words);
    return this;
  }

  /** Faults of the software adapter in every executor, in its own language. */
  SubmittedRounds faults(String rules) {
    return set("spark.executorEnv.SOFTHCA_FAULTS", rules);
  }

  /**
   * The first task that reads stops another executor before anybody has asked that one anything.
   */
  SubmittedRounds standstill(int seconds) {
    standstillSeconds = seconds;
    return this;
  }

  /**
   * In these rounds tasks wait in the middle of reading, while most of their blocks are still to be
   * asked for.
   */
  SubmittedRounds halts(int... inRounds) {
    IntStream.of(inRounds).mapToObj(String::valueOf).forEach(halts::add);
    return set("spark.reducer.maxSizeInFlight", "1m");
  }

  SubmittedRounds start(int megabytes) throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.add(cluster.resultFile().toString());
    for (int number : new int[] {rounds, executors, megabytes, standstillSeconds}) {
      arguments.add(String.valueOf(number));
    }
    arguments.addAll(halts);
    run =
        submit.start(
            "local-cluster[" + executors + ",1,512]",
            arguments,
            cluster.stdout(),
            cluster.stderr());
    return this;
  }

  /** Waits until each executor has a task that waits in the middle of reading. */
  void awaitHalt(int round) throws Exception {
    await(
        "a halt in round " + round,
        () -> new Halt(cluster.resultFile(), round).reached() >= executors);
  }

  /** Lets the tasks of a round go on. */
  void endHalt(int round) throws IOException {
    new Halt(cluster.resultFile(), round).release();
  }

  /** Waits until an executor has logged it. */
  void awaitLog(String text) throws Exception {
    await(text, () -> executorLogs().stream().anyMatch(log -> log.contains(text)));
  }

  /** Allows {@link #fault}. */
  SubmittedRounds takesFaults() {
    return set("spark.executorEnv.SOFTHCA_FAULTS_FILE", faultsFile("%p").toString());
  }

  private Path faultsFile(String pid) {
    return cluster.home().folder().resolve("faults-" + pid);
  }

  /** Does something to the adapter of an executor; returns when it is done. */
  void fault(ProcessHandle executor, String rules) throws Exception {
    Path file = faultsFile(String.valueOf(executor.pid()));
    Path unfinished = Path.of(file + ".new");
    Files.writeString(unfinished, rules + "\n");
    Files.move(unfinished, file);
    await(rules, () -> !Files.exists(file));
  }

  /** Until now. */
  int roundsDone() {
    return (int) output().lines().filter(line -> line.startsWith("ROUND ")).count();
  }

  /** The application, started with 0 rounds, comes to its end once RDMA is there. */
  void enough() throws IOException {
    Files.createFile(Path.of(cluster.resultFile() + RoundsApplication.ENOUGH));
  }

  /** Waits until that many rounds are done. */
  void awaitRound(int round) throws Exception {
    await("round " + round, () -> output().contains("ROUND " + round + "\n"));
  }

  /** Waits until the application has stopped Spark. */
  void awaitStop() throws Exception {
    await("the stop", () -> output().contains("STOPPED\n"));
  }

  /** For temporary files of driver and executors: they get nothing else. */
  SubmittedRounds temporaryFolder(Path folder) {
    submit.driverOption("-Djava.io.tmpdir=" + folder);
    return set("spark.executor.extraJavaOptions", "-Djava.io.tmpdir=" + folder)
        .set("spark.local.dir", folder.toString());
  }

  ProcessHandle driverProcess() {
    return run.process().toHandle();
  }

  List<String> executorLogs() throws IOException {
    return cluster.executorLogs();
  }

  /** The executors' processes, oldest first. */
  List<ProcessHandle> executorProcesses() {
    return ExecutorProcesses.of(driverProcess());
  }

  RoundsResult finish() throws Exception {
    return cluster.result(run.await(LIMIT), RoundsResult.class);
  }

  private String output() {
    try {
      return Files.readString(cluster.stdout());
    } catch (IOException e) {
      return "";
    }
  }

  private void await(String what, Callable<Boolean> condition) throws Exception {
    long deadline = System.nanoTime() + LIMIT.toNanos();
    while (!condition.call()) {
      if (System.nanoTime() > deadline || !run.process().isAlive()) {
        throw new TimeoutException("waited for " + what + ", driver's log " + cluster.stderr());
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  @Override
  public void close() {
    if (run != null) {
      run.close();
    }
  }
}
