package io.rdmashuffle.mapreduce.nm;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
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
 * docs/benchmarks.md. This process reads; a new one serves each way, first when it sees the map
 * outputs for the first time, then again.
 */
final class ServeBenchmark {
  private static final int SEGMENTS = 2048;

  /**
   * Behind the others: enough for the code to be compiled, as it is where a NodeManager runs on.
   */
  private static final int WARM_UP_SEGMENTS = 16_000;

  private static final int WARM_UP_SEGMENT_BYTES = 16 << 10;
  private static final String COMPILERS = "C[12] CompilerThre.*";
  private static final List<String> JVM =
      List.of(
          "-XX:+UseSerialGC",
          "-Xms512m", // all of it from the start: touching memory first costs time, too
          "-Xmx512m",
          "-XX:+AlwaysPreTouch",
          "--add-opens=java.base/java.lang=ALL-UNNAMED");

  /** How segments come. */
  enum Way {
    HTTP,
    WINDOW,
    STAGING
  }

  /** How the segments are spread. */
  private record Shape(int maps, int segmentBytes) {
    int reduces() {
      return SEGMENTS / maps;
    }

    int warmUpMaps() {
      return WARM_UP_SEGMENTS / reduces();
    }
  }

  private record Cost(double ownerNsPerByte, double readerNsPerByte, double wallNsPerByte) {
    double sum() {
      return ownerNsPerByte + readerNsPerByte;
    }
  }

  private ServeBenchmark() {}

  /**
   * @param args repetitions, bytes of a segment, maps that {@link #SEGMENTS} segments are spread
   *     over, and the ways of {@link Way} if not all
   */
  public static void main(String[] args) throws Exception {
    int repetitions = args.length > 0 ? Integer.parseInt(args[0]) : 3;
    int segmentBytes = args.length > 1 ? Integer.parseInt(args[1]) : 1 << 20;
    Shape shape = new Shape(args.length > 2 ? Integer.parseInt(args[2]) : 256, segmentBytes);
    List<Way> ways =
        args.length > 3
            ? Stream.of(args).skip(3).map(Way::valueOf).toList()
            : List.of(Way.values());
    Path folder = Files.createTempDirectory("serve-benchmark");
    try {
      writeOutputs(folder, shape);
      System.out.printf(
          Locale.ROOT,
          "%d maps, %d reduces, segments of %d bytes%n%-16s %14s %14s %14s %14s%n",
          shape.maps(),
          shape.reduces(),
          segmentBytes,
          "way",
          "owner s/GB",
          "reader s/GB",
          "bytes/CPU s",
          "s/GB");
      for (int i = 0; i < repetitions; i++) {
        for (Way way : ways) {
          run(folder, shape, way);
        }
      }
    } finally {
      delete(folder);
    }
  }

  private static void print(String what, Cost cost) {
    System.out.printf(
        Locale.ROOT,
        "%-16s %14.3f %14.3f %14.3e %14.3f%n",
        what,
        cost.ownerNsPerByte,
        cost.readerNsPerByte,
        1e9 / cost.sum(),
        cost.wallNsPerByte);
  }

  private static void writeOutputs(Path folder, Shape shape) throws IOException {
    MapOutputFiles files = new MapOutputFiles(folder);
    for (int map = 0; map < shape.maps() + shape.warmUpMaps(); map++) {
      int[] sizes = new int[shape.reduces()];
      Arrays.fill(sizes, map < shape.maps() ? shape.segmentBytes() : WARM_UP_SEGMENT_BYTES);
      files.write(MapOutputFiles.job(1), map, sizes);
    }
  }

  private static void run(Path folder, Shape shape, Way way) throws Exception {
    int port = FreePort.find();
    try (Owner owner = new Owner(way.name(), folder.toString(), String.valueOf(port))) {
      int httpPort = owner.awaitReady();
      try (ServeReader reader =
          way == Way.HTTP
              ? ServeReader.http(httpPort, shape.reduces())
              : ServeReader.rdma(port, shape.reduces())) {
        reader.fetch(shape.maps(), shape.maps() + shape.warmUpMaps());
        print(way + ", first", measure(owner, reader, shape.maps()));
        print(way + ", again", measure(owner, reader, shape.maps()));
      }
    }
  }

  private static Cost measure(Owner owner, ServeReader reader, int maps) throws Exception {
    long reading = ProcessHandle.current().pid();
    long ownerBefore = cpuNs(owner.process.pid());
    long readerBefore = cpuNs(reading);
    long start = System.nanoTime();
    long bytes = reader.fetch(0, maps);
    long wallNs = System.nanoTime() - start;
    return new Cost(
        (double) (cpuNs(owner.process.pid()) - ownerBefore) / bytes,
        (double) (cpuNs(reading) - readerBefore) / bytes,
        (double) wallNs / bytes);
  }

  /**
   * CPU time of its threads, but for compilers: how much they take depends on how long a process
   * has run. Threads that have ended do not count; there are none that would matter.
   */
  private static long cpuNs(long pid) throws IOException {
    long sum = 0;
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc", String.valueOf(pid), "task"))) {
      for (Path thread : threads) {
        if (!Files.readString(thread.resolve("comm")).strip().matches(COMPILERS)) {
          sum += Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
        }
      }
    }
    return sum;
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** The process that serves. It ends when its input does. */
  private static final class Owner implements AutoCloseable {
    private static final String READY = "READY";
    private final Process process;
    private final BufferedReader output;

    Owner(String... args) throws IOException {
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(JVM);
      command.addAll(
          List.of("-cp", System.getProperty("java.class.path"), ServeOwner.class.getName()));
      command.addAll(List.of(args));
      process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      output =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Returns its HTTP port. */
    int awaitReady() throws IOException {
      for (String line = output.readLine(); line != null; line = output.readLine()) {
        if (line.startsWith(READY)) {
          return Integer.parseInt(line.substring(READY.length()).trim());
        }
      }
      throw new IOException("the owner ended before it served");
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
