package io.rdmashuffle.mapreduce.nm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What serving map outputs costs a NodeManager, and fetching them a reduce task: CPU time per
 * gigabyte by HTTP, by windows and by staging, on the software adapter. Started by hand, see
 * docs/benchmarks.md; an owner and a reader process for each figure.
 */
final class ServeBenchmark {
  static final int MAPS = 64;
  static final int WARM_UP_MAPS = 24; // behind the others
  static final int REDUCES = 8;
  private static final long NS_PER_TICK = 10_000_000; // USER_HZ
  private static final List<String> JVM =
      List.of(
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1", // a compiler's time depends on how long a process runs
          "-Xmx512m",
          "--add-opens=java.base/java.lang=ALL-UNNAMED");

  /** How segments come. */
  enum Way {
    HTTP,
    WINDOW,
    STAGING
  }

  private record Cost(double ownerNsPerByte, double readerNsPerByte) {
    double sum() {
      return ownerNsPerByte + readerNsPerByte;
    }
  }

  private ServeBenchmark() {}

  /**
   * @param args repetitions, and bytes of a segment
   */
  public static void main(String[] args) throws Exception {
    int repetitions = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    int segmentBytes = args.length > 1 ? Integer.parseInt(args[1]) : 1 << 20;
    Path folder = Files.createTempDirectory("serve-benchmark");
    try {
      writeOutputs(folder, segmentBytes);
      System.out.printf(
          Locale.ROOT,
          "%d maps, %d reduces, segments of %d bytes%n%-8s %14s %14s %14s%n",
          MAPS,
          REDUCES,
          segmentBytes,
          "way",
          "owner s/GB",
          "reader s/GB",
          "bytes/CPU s");
      for (int i = 0; i < repetitions; i++) {
        for (Way way : Way.values()) {
          print(way, run(folder, way, segmentBytes));
        }
      }
    } finally {
      delete(folder);
    }
  }

  private static void print(Way way, Cost cost) {
    System.out.printf(
        Locale.ROOT,
        "%-8s %14.3f %14.3f %14.3e%n",
        way,
        cost.ownerNsPerByte,
        cost.readerNsPerByte,
        1e9 / cost.sum());
  }

  private static void writeOutputs(Path folder, int segmentBytes) throws IOException {
    MapOutputFiles files = new MapOutputFiles(folder);
    int[] sizes = new int[REDUCES];
    Arrays.fill(sizes, segmentBytes);
    for (int map = 0; map < MAPS + WARM_UP_MAPS; map++) {
      files.write(MapOutputFiles.job(1), map, sizes);
    }
  }

  private static Cost run(Path folder, Way way, int segmentBytes) throws Exception {
    int port = FreePort.find();
    try (Child owner = new Child(ServeOwner.class, way.name(), folder.toString(), "" + port)) {
      String httpPort = owner.expect("READY");
      try (Child reader =
          new Child(
              ServeReader.class,
              way.name(),
              way == Way.HTTP ? httpPort : "" + port,
              "" + segmentBytes)) {
        reader.expect("WARM");
        long ownerBefore = owner.cpuNs();
        long readerBefore = reader.cpuNs();
        reader.say("GO");
        long bytes = Long.parseLong(reader.expect("DONE"));
        return new Cost(
            (double) (owner.cpuNs() - ownerBefore) / bytes,
            (double) (reader.cpuNs() - readerBefore) / bytes);
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** One of the processes. It ends when its input does. */
  private static final class Child implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    Child(Class<?> main, String... args) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(JVM);
      command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
      command.addAll(List.of(args));
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      output =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** What follows the word. */
    String expect(String word) throws IOException {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        if (line.startsWith(word)) {
          return line.substring(word.length()).trim();
        }
      }
      throw new IOException("a process ended before it said " + word);
    }

    void say(String word) throws IOException {
      OutputStream input = process.getOutputStream();
      input.write((word + "\n").getBytes(StandardCharsets.UTF_8));
      input.flush();
    }

    /** User and system time: proc_pid_stat(5). */
    long cpuNs() throws IOException {
      String stat = Files.readString(Path.of("/proc", "" + process.pid(), "stat"));
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
      return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * NS_PER_TICK;
    }

    @Override
    public void close() throws IOException {
      process.getOutputStream().close();
      try {
        process.waitFor();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
