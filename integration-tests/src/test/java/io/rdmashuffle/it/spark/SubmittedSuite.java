package io.rdmashuffle.it.spark;

import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.benchmarks.workload.RunResult;
import io.rdmashuffle.it.app.SuiteApplication;
import io.rdmashuffle.transport.testing.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One run of {@link SuiteApplication} on a cluster of its own. Set up, then run, by one thread. */
final class SubmittedSuite {
  static final int EXECUTORS = 2;
  private static final Duration LIMIT = Patience.of(Duration.ofMinutes(4));

  private final TestCluster cluster;
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final List<String> jobs = new ArrayList<>();
  private final List<String> driverOptions = new ArrayList<>();

  private SubmittedSuite(String name) throws IOException {
    this.cluster = TestCluster.fresh(name);
    set("spark.executor.memory", "1g");
    set("spark.shuffle.sort.bypassMergeThreshold", "4");
    set("spark.sql.shuffle.partitions", "12");
    set("spark.sql.autoBroadcastJoinThreshold", "-1");
    set("spark.sql.adaptive.autoBroadcastJoinThreshold", "-1");
  }

  static SubmittedSuite stock(String name) throws IOException {
    return new SubmittedSuite(name);
  }

  /** With the plugin as a user turns it on; the device is left to the settings. */
  static SubmittedSuite withPlugin(String name) throws IOException {
    return new SubmittedSuite(name)
        .set("spark.shuffle.manager", "io.rdmashuffle.spark.RdmaShuffleManager");
  }

  static SubmittedSuite onSoft(String name) throws IOException {
    return withPlugin(name).set("spark.shuffle.rdma.device", "soft");
  }

  SubmittedSuite set(String key, String value) {
    settings.put(key, value);
    return this;
  }

  /** One more option of the driver's JVM. */
  SubmittedSuite driverOption(String option) {
    driverOptions.add(option);
    return this;
  }

  /** Only these jobs instead of all. */
  SubmittedSuite jobs(String... names) {
    jobs.addAll(List.of(names));
    return this;
  }

  Finished runOnCluster() throws Exception {
    return run("local-cluster[" + EXECUTORS + ",1,1024]");
  }

  Finished run(String master) throws Exception {
    List<String> arguments = new ArrayList<>();
    arguments.add(cluster.resultFile().toString());
    arguments.add(String.valueOf(EXECUTORS));
    arguments.addAll(jobs);
    SparkSubmit submit =
        cluster.submit(SuiteApplication.class).setAll(settings).driverOption("-Xmx768m");
    driverOptions.forEach(submit::driverOption);
    try (SparkSubmit.Run run =
        submit.start(master, arguments, cluster.stdout(), cluster.stderr())) {
      return new Finished(run.await(LIMIT), cluster);
    }
  }

  /** What is left of a run. */
  record Finished(int exit, TestCluster cluster) {
    /**
     * @throws AssertionError with the end of the driver's log if the application failed
     */
    RunResult result() throws IOException {
      return cluster.result(exit, RunResult.class);
    }

    String driverLog() throws IOException {
      return Files.readString(cluster.stderr());
    }

    /** The logs of all executors that were ever started, one text each. */
    List<String> executorLogs() throws IOException {
      return cluster.executorLogs();
    }
  }
}
