package io.rdmashuffle.benchmarks.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One run of {@code org.apache.spark.deploy.SparkSubmit} in a JVM of its own, as a user would start
 * it: settings by {@code --conf}, jars by {@code --jars}. One thread at a time; {@link Run} is
 * closed by its caller, which ends the process if it still runs.
 */
public final class SparkSubmit {
  private final SparkHome home;
  private final Path applicationJar;
  private final String mainClass;
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final List<Path> jars = new ArrayList<>();
  private final List<String> driverOptions = new ArrayList<>();
  private final List<String> launcher = new ArrayList<>();

  public SparkSubmit(SparkHome home, Path applicationJar, String mainClass) {
    this.home = home;
    this.applicationJar = applicationJar;
    this.mainClass = mainClass;
    set("spark.ui.enabled", "false");
    set("spark.driver.host", "127.0.0.1");
    setAll(home.settings());
  }

  public SparkSubmit set(String key, String value) {
    settings.put(key, value);
    return this;
  }

  public SparkSubmit setAll(Map<String, String> more) {
    settings.putAll(more);
    return this;
  }

  public SparkSubmit jars(List<Path> more) {
    jars.addAll(more);
    return this;
  }

  public SparkSubmit driverOption(String option) {
    driverOptions.add(option);
    return this;
  }

  /** A command that runs the JVM, such as {@code prlimit} with its options. */
  public SparkSubmit launcher(List<String> words) {
    launcher.addAll(words);
    return this;
  }

  /**
   * Starts it. Output goes to the two files, which are replaced.
   *
   * @param master for instance {@code local-cluster[2,1,1024]}
   */
  public Run start(String master, List<String> arguments, Path stdout, Path stderr)
      throws IOException {
    List<String> command = new ArrayList<>(launcher);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(SparkHome.jvmOptions());
    command.addAll(driverOptions);
    command.addAll(List.of("-cp", home.classPath(), "org.apache.spark.deploy.SparkSubmit"));
    command.addAll(List.of("--master", master, "--class", mainClass));
    settings.forEach((k, v) -> command.addAll(List.of("--conf", k + "=" + v)));
    if (!jars.isEmpty()) {
      command.addAll(
          List.of("--jars", jars.stream().map(Path::toString).collect(Collectors.joining(","))));
    }
    command.add(applicationJar.toString());
    command.addAll(arguments);
    Files.createDirectories(stdout.toAbsolutePath().getParent());
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(home.folder().toFile());
    builder.environment().putAll(home.environment("2.13"));
    builder.redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")));
    builder.redirectOutput(stdout.toFile());
    builder.redirectError(stderr.toFile());
    return new Run(builder.start());
  }

  /** A started application. */
  public static final class Run implements AutoCloseable {
    private final Process process;

    private Run(Process process) {
      this.process = process;
    }

    public Process process() {
      return process;
    }

    /**
     * Waits for its end.
     *
     * @return the exit code
     * @throws IOException if it still runs after that time; it is ended then
     */
    public int await(Duration limit) throws IOException, InterruptedException {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        close();
        throw new IOException("still running after " + limit + ": process " + process.pid());
      }
      return process.exitValue();
    }

    /** Ends the process and the executors it started, if they still run. */
    @Override
    public void close() {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
      try {
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
          process.descendants().forEach(ProcessHandle::destroyForcibly);
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
