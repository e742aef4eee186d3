package io.rdmashuffle.benchmarks.fetch;

import io.rdmashuffle.benchmarks.cluster.SparkHome;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

/**
 * The owner's and the reader's program of one commit: what a {@link Pair} starts. Programs of two
 * commits have in common what {@link OwnerProcess} and {@link ReaderProcess} say of their arguments
 * and lines, and their simple names.
 *
 * @param label in reports and in the names of logs
 * @param classPath of both
 * @param ownerMain name of the owner's main class
 * @param readerMain name of the reader's main class
 */
record Harness(String label, String classPath, String ownerMain, String readerMain) {
  /** This commit's. */
  static Harness own() {
    return new Harness(
        "this",
        System.getProperty("java.class.path"),
        OwnerProcess.class.getName(),
        ReaderProcess.class.getName());
  }

  /**
   * Another commit's.
   *
   * @param classPath begins with the jar that has the programs, in whatever package
   * @throws IOException if that jar has none
   */
  static Harness of(String label, String classPath) throws IOException {
    try (JarFile jar = new JarFile(classPath.split(File.pathSeparator)[0])) {
      return new Harness(
          label,
          classPath,
          classNamed(jar, OwnerProcess.class.getSimpleName()),
          classNamed(jar, ReaderProcess.class.getSimpleName()));
    }
  }

  private static String classNamed(JarFile jar, String simpleName) throws IOException {
    String end = "/" + simpleName + ".class";
    return jar.stream()
        .map(ZipEntry::getName)
        .filter(name -> name.endsWith(end))
        .map(name -> name.replaceFirst("\\.class$", "").replace('/', '.'))
        .findFirst()
        .orElseThrow(() -> new IOException("no " + simpleName + " in " + jar.getName()));
  }

  List<String> owner() {
    return command(ownerMain);
  }

  List<String> reader() {
    return command(readerMain);
  }

  /** A reader that takes what it can get. Only this commit has one. */
  List<String> hostileReader() {
    return command(HostileReader.class.getName());
  }

  private List<String> command(String main) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(SparkHome.jvmOptions());
    command.addAll(List.of("-Xmx1g", ProcessCpu.JVM_OPTION, "-cp", classPath, main));
    return command;
  }
}
