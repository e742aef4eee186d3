package io.rdmashuffle.it.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.rdmashuffle.benchmarks.cluster.SparkHome;
import io.rdmashuffle.benchmarks.cluster.SparkSubmit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A folder under {@code target/it} with a Spark home in it, from which a test submits one
 * application. Empty at first: executors of an earlier run must not be taken for this one's.
 */
final class TestCluster {
  private static final int TAIL = 4_000;

  /** An archive of Spark's classes for all JVMs ({@link SharedClasses}); null: none. */
  private static final String SHARED_CLASSES = System.getProperty("it.sharedClasses");

  private final Path folder;
  private final SparkHome home;

  private TestCluster(Path folder, SparkHome home) {
    this.folder = folder;
    this.home = home;
  }

  static TestCluster fresh(String name) throws IOException {
    Path folder = Path.of(System.getProperty("it.folder"), name).toAbsolutePath();
    delete(folder);
    List<Path> sparkJars = SparkHome.readClassPath(Path.of(System.getProperty("it.spark")));
    Path home = folder.resolve("spark");
    return new TestCluster(
        folder,
        SHARED_CLASSES == null
            ? SparkHome.create(home, sparkJars)
            : SparkHome.createListed(home, sparkJars));
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) { // does not follow the links to Spark's jars
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  SparkHome home() {
    return home;
  }

  /**
   * An application of this module. Its jars are the workloads and the plugin: also under the stock
   * shuffle, because the workloads name the plugin's report.
   */
  SparkSubmit submit(Class<?> mainClass) {
    SparkSubmit submit =
        new SparkSubmit(home, path("it.application"), mainClass.getName())
            .jars(List.of(path("it.workloads"), path("it.plugin")));
    if (SHARED_CLASSES != null && Files.exists(Path.of(SHARED_CLASSES))) {
      String option = "-XX:SharedArchiveFile=" + SHARED_CLASSES;
      submit.driverOption(option).set("spark.executor.extraJavaOptions", option);
    }
    return submit;
  }

  private static Path path(String property) {
    return Path.of(System.getProperty(property)).toAbsolutePath();
  }

  /** Where the application writes its result. */
  Path resultFile() {
    return folder.resolve("result.json");
  }

  Path stdout() {
    return folder.resolve("stdout");
  }

  /** The driver's log. */
  Path stderr() {
    return folder.resolve("stderr");
  }

  /** The logs of all executors that were ever started, one text each. */
  List<String> executorLogs() throws IOException {
    List<String> logs = new ArrayList<>();
    for (Path file : home.executorLogs()) {
      logs.add(Files.readString(file));
    }
    return logs;
  }

  /**
   * What the application wrote.
   *
   * @throws AssertionError with the end of the driver's log if the application failed
   */
  <T> T result(int exit, Class<T> type) throws IOException {
    if (exit != 0) {
      String log = Files.readString(stderr());
      String tail = log.substring(Math.max(0, log.length() - TAIL));
      throw new AssertionError("exit code " + exit + ", log " + stderr() + ":\n" + tail);
    }
    return new ObjectMapper().readValue(resultFile().toFile(), type);
  }
}
