package io.rdmashuffle.it.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.cluster.SparkHome;
import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import io.rdmashuffle.benchmarks.workload.RunResult;
import io.rdmashuffle.it.app.SuiteApplication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One run of {@link SuiteApplication} on a cluster of its own, with a folder of its own under
 * {@code target/it}. Started, then finished, by one thread.
 */
final class SubmittedSuite {
  static final int EXECUTORS = 2;
  private static final Duration LIMIT = Duration.ofMinutes(4);

  private final Path folder;
  private final SparkHome home;
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final List<String> jobs = new ArrayList<>();

  private SubmittedSuite(String name) throws IOException {
    this.folder = Path.of(System.getProperty("it.folder"), name).toAbsolutePath();
    this.home =
        SparkHome.create(
            folder.resolve("spark"),
            SparkHome.readClassPath(Path.of(System.getProperty("it.spark"))));
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
    SubmittedSuite suite = new SubmittedSuite(name);
    return suite.set("spark.shuffle.manager", "io.rdmashuffle.spark.RdmaShuffleManager");
  }

  static SubmittedSuite onSoft(String name) throws IOException {
    return withPlugin(name).set("spark.shuffle.rdma.device", "soft");
  }

  SubmittedSuite set(String key, String value) {
    settings.put(key, value);
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
    Path result = folder.resolve("result.json");
    Files.deleteIfExists(result);
    List<Path> jars = new ArrayList<>(List.of(path("it.workloads")));
    // The workloads name the plugin's report class, so the stock runs need the jar as well.
    jars.add(path("it.plugin"));
    List<String> arguments = new ArrayList<>(List.of(result.toString(), String.valueOf(EXECUTORS)));
    arguments.addAll(jobs);
    SparkSubmit submit =
        new SparkSubmit(home, path("it.application"), SuiteApplication.class.getName())
            .jars(jars)
            .setAll(settings)
            .driverOption("-Xmx768m");
    Path stdout = folder.resolve("stdout");
    Path stderr = folder.resolve("stderr");
    try (SparkSubmit.Run run = submit.start(master, arguments, stdout, stderr)) {
      int exit = run.await(LIMIT);
      return new Finished(exit, stdout, stderr, home, result);
    }
  }

  private static Path path(String property) {
    return Path.of(System.getProperty(property)).toAbsolutePath();
  }

  /** What is left of a run. */
  record Finished(int exit, Path stdout, Path stderr, SparkHome home, Path resultFile) {
    /**
     * @throws AssertionError with the end of the driver's log if the application failed
     */
    RunResult result() throws IOException {
      if (exit != 0) {
        throw new AssertionError("exit code " + exit + ", log " + stderr + ":\n" + driverTail());
      }
      return new ObjectMapper().readValue(resultFile.toFile(), RunResult.class);
    }

    String driverLog() throws IOException {
      return Files.readString(stderr);
    }

    private String driverTail() throws IOException {
      String log = driverLog();
      return log.substring(Math.max(0, log.length() - 4_000));
    }

    /** The logs of all executors, one text each. */
    List<String> executorLogs() throws IOException {
      List<String> logs = new ArrayList<>();
      for (Path file : home.executorLogs()) {
        logs.add(Files.readString(file));
      }
      return logs;
    }
  }
}
