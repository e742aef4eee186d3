package io.rdmashuffle.benchmarks.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A folder that Spark takes for an installation: {@code jars/} full of links, and {@code RELEASE}.
 * Executors started by a local-cluster or a worker get {@code jars/*} as their class path.
 *
 * <p>Immutable once created. Its owner deletes the folder; worker folders appear in {@code work/}.
 */
public final class SparkHome {
  /** What Spark's own launcher gives its JVMs (org.apache.spark.launcher.JavaModuleOptions). */
  private static final List<String> OPENED_PACKAGES =
      List.of(
          "java.lang",
          "java.lang.invoke",
          "java.lang.reflect",
          "java.io",
          "java.net",
          "java.nio",
          "java.util",
          "java.util.concurrent",
          "java.util.concurrent.atomic",
          "jdk.internal.ref",
          "sun.nio.ch",
          "sun.nio.cs",
          "sun.security.action",
          "sun.util.calendar");

  private final Path folder;
  private final String classPath;
  private final boolean listed;

  private SparkHome(Path folder, String classPath, boolean listed) {
    this.folder = folder;
    this.classPath = classPath;
    this.listed = listed;
  }

  /**
   * @param folder created if missing; links of an earlier run stay
   * @param sparkJars the class path of Spark
   */
  public static SparkHome create(Path folder, List<Path> sparkJars) throws IOException {
    Path jars = Files.createDirectories(folder.resolve("jars"));
    for (Path jar : sparkJars) {
      try {
        Files.createSymbolicLink(jars.resolve(jar.getFileName()), jar.toAbsolutePath());
      } catch (FileAlreadyExistsException e) {
        continue;
      }
    }
    complete(folder);
    return new SparkHome(folder.toAbsolutePath(), jars.toAbsolutePath() + "/*", false);
  }

  /**
   * As {@link #create}, but {@code jars/} stays empty and every class path is the list itself: the
   * same in each process and each run, as an archive of shared classes needs it. The order in
   * {@code jars/*} is the file system's.
   */
  public static SparkHome createListed(Path folder, List<Path> sparkJars) throws IOException {
    Files.createDirectories(folder.resolve("jars"));
    complete(folder);
    String list =
        sparkJars.stream()
            .map(jar -> jar.toAbsolutePath().toString())
            .collect(Collectors.joining(java.io.File.pathSeparator));
    return new SparkHome(folder.toAbsolutePath(), list, true);
  }

  private static void complete(Path folder) throws IOException {
    Files.writeString(folder.resolve("RELEASE"), "");
    Files.createDirectories(folder.resolve("tmp"));
  }

  /** Reads a class path as maven-dependency-plugin's build-classpath writes it. */
  public static List<Path> readClassPath(Path file) throws IOException {
    List<Path> paths = new ArrayList<>();
    for (String entry : Files.readString(file).trim().split(java.io.File.pathSeparator)) {
      paths.add(Path.of(entry));
    }
    return paths;
  }

  public Path folder() {
    return folder;
  }

  /** The class path of a driver or daemon JVM. */
  public String classPath() {
    return classPath;
  }

  /** What an application must set beyond its own. */
  Map<String, String> settings() {
    return listed ? Map.of("spark.executor.extraClassPath", classPath) : Map.of();
  }

  /** What the environment of every process of the cluster must say. */
  public Map<String, String> environment(String scalaBinaryVersion) {
    return Map.of(
        "SPARK_HOME",
        folder.toString(),
        "SPARK_SCALA_VERSION",
        scalaBinaryVersion,
        "SPARK_LOCAL_IP",
        "127.0.0.1",
        "SPARK_LOCAL_DIRS",
        folder.resolve("tmp").toString());
  }

  /** Options for JVMs started by hand; Spark adds them itself to those it starts. */
  public static List<String> jvmOptions() {
    List<String> options = new ArrayList<>();
    for (String name : OPENED_PACKAGES) {
      options.add("--add-opens=java.base/" + name + "=ALL-UNNAMED");
    }
    options.add("-Djdk.reflect.useDirectMethodHandle=false");
    options.add("-Dio.netty.tryReflectionSetAccessible=true");
    options.add("-XX:+IgnoreUnrecognizedVMOptions");
    return options;
  }

  /** The stderr files of all executors that ran here. */
  public List<Path> executorLogs() {
    Path work = folder.resolve("work");
    if (!Files.isDirectory(work)) {
      return List.of();
    }
    try (var files = Files.walk(work)) {
      return files.filter(f -> f.getFileName().toString().equals("stderr")).sorted().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
