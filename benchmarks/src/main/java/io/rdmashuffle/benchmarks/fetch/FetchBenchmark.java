package io.rdmashuffle.benchmarks.fetch;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * The program behind {@code dev/bench fetch}: see the package's description. Arguments: the folder
 * to work in, the bare_readv program, the number of repetitions, and which parts to run: {@code
 * large}, {@code small}, {@code single}, {@code scarce} or a scenario of the last, such as {@code
 * "8 KB blocks, budget 1 %"}; the first three if none is named. Prints every figure and writes
 * {@code fetch.json}.
 */
public final class FetchBenchmark {
  private static final List<String> NETTY =
      List.of(FetchTransports.NETTY_AUTO, FetchTransports.NETTY_NIO);

  /** The limit: process_vm_readv(2) into as much memory as the reader has under way. */
  private static final String BARE = "bare loop";

  /** The same into one buffer, as nobody can who keeps what was read. */
  private static final String BARE_IN_CACHE = "bare loop in cache";

  private final Path folder;
  private final Path bare;
  private final int repetitions;
  private final Map<String, Object> report = new LinkedHashMap<>();

  private FetchBenchmark(Path folder, Path bare, int repetitions) {
    this.folder = folder;
    this.bare = bare;
    this.repetitions = repetitions;
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]).toAbsolutePath();
    Files.createDirectories(folder);
    FetchBenchmark benchmark =
        new FetchBenchmark(folder, Path.of(arguments[1]), Integer.parseInt(arguments[2]));
    for (String part : parts(arguments)) {
      for (Scenario scenario : Scenario.of(part)) {
        if (scenario.isLatency()) {
          benchmark.latency(scenario);
        } else {
          benchmark.streams(scenario);
        }
      }
    }
    new ObjectMapper()
        .enable(SerializationFeature.INDENT_OUTPUT)
        .writeValue(folder.resolve("fetch.json").toFile(), benchmark.report);
    System.out.println("written to " + folder.resolve("fetch.json"));
  }

  private static List<String> parts(String[] arguments) {
    List<String> named = List.of(arguments).subList(3, arguments.length);
    return named.isEmpty() ? Scenario.USUAL : named;
  }

  private void streams(Scenario scenario) throws Exception {
    Layout layout = scenario.layout(folder);
    layout.create(1);
    System.out.printf("== %s, %d repetitions%n", scenario.name(), repetitions);
    List<Pair> pairs = start(layout);
    try {
      checkDigests(pairs, scenario);
      Map<String, List<Pair.Sample>> samples = measure(pairs, scenario);
      samples.put(BARE, bareLoop(scenario, layout, scenario.perRequest() * scenario.parallel()));
      samples.put(BARE_IN_CACHE, bareLoop(scenario, layout, 1));
      compare(scenario, samples);
      idle(pairs);
    } finally {
      pairs.forEach(Pair::close);
    }
  }

  private List<Pair> start(Layout layout) throws IOException {
    List<Pair> pairs = new ArrayList<>();
    try {
      for (String name : List.of(FetchTransports.RDMA, NETTY.get(0), NETTY.get(1))) {
        pairs.add(Pair.start(Harness.own(), name, layout, folder));
      }
      return pairs;
    } catch (IOException e) {
      pairs.forEach(Pair::close);
      throw e;
    }
  }

  private static void checkDigests(List<Pair> pairs, Scenario scenario) throws IOException {
    long expected = pairs.get(0).digest(scenario.perRequest());
    for (Pair pair : pairs) {
      if (pair.digest(scenario.perRequest()) != expected) {
        throw new IllegalStateException(pair.transport() + " fetched other bytes");
      }
    }
  }

  /** Alternates between the transports, forwards and backwards, so that drift hits all alike. */
  private Map<String, List<Pair.Sample>> measure(List<Pair> pairs, Scenario s) throws IOException {
    Map<String, List<Pair.Sample>> samples = new LinkedHashMap<>();
    pairs.forEach(p -> samples.put(p.transport(), new ArrayList<>()));
    for (int round = -s.warmUps(); round < repetitions; round++) {
      for (int i = 0; i < pairs.size(); i++) {
        Pair pair = pairs.get(round % 2 == 0 ? i : pairs.size() - 1 - i);
        Pair.Sample sample = pair.stream(s.perRequest(), s.parallel(), s.blocks());
        if (sample.byNetty() > 0 && !s.isScarce()) {
          throw new IllegalStateException(sample.byNetty() + " blocks came by Netty");
        }
        if (round >= 0) {
          samples.get(pair.transport()).add(sample);
        }
      }
    }
    return samples;
  }

  private List<Pair.Sample> bareLoop(Scenario scenario, Layout layout, int buffers)
      throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                bare.toString(),
                String.valueOf(scenario.blockBytes()),
                String.valueOf(scenario.blocks()),
                String.valueOf(buffers)));
    for (int map = 0; map < layout.maps(); map++) {
      command.add(layout.file(map).toString());
    }
    List<Pair.Sample> samples = new ArrayList<>();
    for (int i = 0; i < repetitions; i++) {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String[] words =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
              .trim()
              .split(" ");
      if (process.waitFor() != 0) {
        throw new IOException(String.join(" ", words));
      }
      samples.add(new Pair.Sample(Long.parseLong(words[1]), 0, Long.parseLong(words[2]), 0));
    }
    return samples;
  }

  private void compare(Scenario scenario, Map<String, List<Pair.Sample>> samples) {
    Map<String, Object> out = new LinkedHashMap<>();
    samples.forEach((name, list) -> out.put(name, absolute(scenario, name, list)));
    List<Pair.Sample> rdma = samples.get(FetchTransports.RDMA);
    if (scenario.isScarce()) {
      Spread byNetty = spread(rdma, s -> 100.0 * s.byNetty() / scenario.blocks());
      System.out.printf("  %-40s %s %%%n", "blocks of rdma that came by Netty", byNetty);
      out.put("percent of blocks by Netty", byNetty);
    }
    for (String name : NETTY) {
      List<Pair.Sample> netty = samples.get(name);
      ratio(out, "CPU, rdma / " + name, rdma, netty, Pair.Sample::cpuNs);
      ratio(out, "owner's CPU, rdma / " + name, rdma, netty, Pair.Sample::ownerCpuNs);
      ratio(out, "wall time, rdma / " + name, rdma, netty, Pair.Sample::wallNs);
    }
    for (String bare : List.of(BARE, BARE_IN_CACHE)) {
      ratio(out, "throughput, rdma / " + bare, samples.get(bare), rdma, Pair.Sample::wallNs);
    }
    report.put(scenario.name(), out);
  }

  private static Map<String, Object> absolute(
      Scenario scenario, String name, List<Pair.Sample> samples) {
    double gigabytes = scenario.gigabytes();
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("cpuSecondsPerGB", spread(samples, s -> s.cpuNs() / 1e9 / gigabytes));
    figures.put("ownerCpuSecondsPerGB", spread(samples, s -> s.ownerCpuNs() / 1e9 / gigabytes));
    figures.put("cpuMicrosPerBlock", spread(samples, s -> s.cpuNs() / 1e3 / scenario.blocks()));
    figures.put("gigabytesPerSecond", spread(samples, s -> gigabytes / (s.wallNs() / 1e9)));
    System.out.printf("%-24s %s%n", name, figures);
    return figures;
  }

  private static void ratio(
      Map<String, Object> out,
      String name,
      List<Pair.Sample> above,
      List<Pair.Sample> below,
      ToDoubleFunction<Pair.Sample> figure) {
    Spread spread = Spread.ratio(values(above, figure), values(below, figure));
    System.out.printf("  %-40s %s%n", name, spread);
    out.put(name, spread);
  }

  private static Spread spread(List<Pair.Sample> samples, ToDoubleFunction<Pair.Sample> figure) {
    return Spread.of(values(samples, figure));
  }

  private static double[] values(List<Pair.Sample> samples, ToDoubleFunction<Pair.Sample> figure) {
    return samples.stream().mapToDouble(figure).toArray();
  }

  private void idle(List<Pair> pairs) throws Exception {
    for (Pair pair : pairs) {
      Pair.Sample sample = pair.idle(5_000);
      double share = 100.0 * sample.cpuNs() / sample.wallNs();
      System.out.printf(
          "  idle %-35s %.3f %% of one core, both processes%n", pair.transport(), share);
      report.put("idle percent of a core, " + pair.transport(), share);
    }
  }

  private void latency(Scenario scenario) throws Exception {
    Layout layout = scenario.layout(folder);
    layout.create(1);
    System.out.printf("== %s, %d repetitions%n", scenario.name(), repetitions);
    Map<String, double[]> medians = new LinkedHashMap<>();
    List<Pair> pairs = start(layout);
    try {
      checkDigests(pairs, scenario);
      pairs.forEach(p -> medians.put(p.transport(), new double[repetitions]));
      for (int round = -scenario.warmUps(); round < repetitions; round++) {
        for (Pair pair : pairs) {
          Pair.Sample latency = pair.latency(scenario.blocks());
          if (round >= 0) {
            medians.get(pair.transport())[round] = latency.wallNs() / 1e3;
          }
        }
      }
    } finally {
      pairs.forEach(Pair::close);
    }
    Map<String, Object> out = new LinkedHashMap<>();
    medians.forEach((name, micros) -> out.put("median us, " + name, Spread.of(micros)));
    for (String name : NETTY) {
      out.put(
          "latency, rdma / " + name,
          Spread.ratio(medians.get(FetchTransports.RDMA), medians.get(name)));
    }
    out.forEach((name, spread) -> System.out.printf("  %-40s %s%n", name, spread));
    report.put(scenario.name(), out);
  }
}
