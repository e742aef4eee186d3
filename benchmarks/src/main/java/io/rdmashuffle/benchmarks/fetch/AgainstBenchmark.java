package io.rdmashuffle.benchmarks.fetch;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The program behind {@code dev/bench fetch --against COMMIT}: this commit's transport and
 * another's in turns. Arguments: the folder to work in, the other commit's name and class path, the
 * number of repetitions, and which parts to run, as {@link FetchBenchmark} takes them.
 *
 * <p>Each repetition starts new processes: this commit's, the other's, and this commit's once more.
 * What the two of the same commit differ by is noise (the A/A interval), of machine and JVM alike.
 * Prints every ratio, a line {@code RESULT} with the same as JSON, and writes {@code against.json}.
 */
public final class AgainstBenchmark {
  private static final int THIS = 0;
  private static final int OTHER = 1;
  private static final int AGAIN = 2;

  /** In each order once, so that nobody always comes after the same one. */
  private static final int[][] TURNS = {
    {THIS, OTHER, AGAIN},
    {AGAIN, OTHER, THIS},
    {OTHER, AGAIN, THIS},
    {THIS, AGAIN, OTHER},
    {AGAIN, THIS, OTHER},
    {OTHER, THIS, AGAIN},
  };

  private final Path folder;
  private final Harness other;
  private final int repetitions;
  private final ObjectMapper json = new ObjectMapper();
  private final List<Map<String, Object>> results = new ArrayList<>();

  private AgainstBenchmark(Path folder, Harness other, int repetitions) {
    this.folder = folder;
    this.other = other;
    this.repetitions = repetitions;
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]).toAbsolutePath();
    Files.createDirectories(folder);
    AgainstBenchmark benchmark =
        new AgainstBenchmark(
            folder, Harness.of(arguments[1], arguments[2]), Integer.parseInt(arguments[3]));
    List<String> parts = List.of(arguments).subList(4, arguments.length);
    for (String part : parts.isEmpty() ? Scenario.USUAL : parts) {
      for (Scenario scenario : Scenario.of(part)) {
        benchmark.compare(scenario);
      }
    }
    Path report = folder.resolve("against.json");
    benchmark.json.writerWithDefaultPrettyPrinter().writeValue(report.toFile(), benchmark.results);
    System.out.println("written to " + report);
  }

  private void compare(Scenario scenario) throws IOException {
    Layout layout = scenario.layout(folder);
    layout.create(1);
    System.out.printf(
        "== %s: this against %s, %d repetitions of %d turns%n",
        scenario.name(), other.label(), repetitions, TURNS.length);
    List<Pair.Sample[]> sums = new ArrayList<>();
    for (int i = 0; i < repetitions; i++) {
      sums.add(repeat(scenario, layout));
    }
    report(scenario, "cpu", sums, Pair.Sample::cpuNs);
    report(scenario, scenario.isLatency() ? "latency" : "wall", sums, Pair.Sample::wallNs);
  }

  /** New processes of each; what their turns took together. */
  private Pair.Sample[] repeat(Scenario scenario, Layout layout) throws IOException {
    List<Pair> pairs = new ArrayList<>();
    try {
      for (Harness harness : List.of(Harness.own(), other, Harness.own())) {
        pairs.add(Pair.start(harness, FetchTransports.RDMA, layout, folder));
      }
      long expected = pairs.get(THIS).digest(scenario.perRequest());
      for (Pair pair : pairs) {
        if (pair.digest(scenario.perRequest()) != expected) {
          throw new IllegalStateException("not the same bytes");
        }
        for (int i = 0; i < scenario.warmUps(); i++) {
          measure(pair, scenario);
        }
      }
      Pair.Sample[] sums = new Pair.Sample[pairs.size()];
      for (int[] turns : TURNS) {
        for (int who : turns) {
          Pair.Sample sample = measure(pairs.get(who), scenario);
          sums[who] = sums[who] == null ? sample : sums[who].plus(sample);
        }
      }
      return sums;
    } finally {
      pairs.forEach(Pair::close);
    }
  }

  private static Pair.Sample measure(Pair pair, Scenario scenario) throws IOException {
    if (scenario.isLatency()) {
      return pair.latency(scenario.blocks());
    }
    Pair.Sample sample = pair.stream(scenario.perRequest(), scenario.parallel(), scenario.blocks());
    if (sample.byNetty() > 0 && !scenario.isScarce()) {
      throw new IllegalStateException(sample.byNetty() + " blocks came by Netty");
    }
    return sample;
  }

  private void report(
      Scenario scenario, String figure, List<Pair.Sample[]> sums, ToLongFunction<Pair.Sample> value)
      throws IOException {
    double[][] values = new double[AGAIN + 1][];
    for (int who = 0; who < values.length; who++) {
      int index = who;
      values[who] = sums.stream().mapToDouble(s -> value.applyAsLong(s[index])).toArray();
    }
    Spread ratio = Spread.ratio(values[THIS], values[OTHER]);
    Spread same = Spread.ratio(values[THIS], values[AGAIN]);
    System.out.printf("  %-40s %s%n", figure + ", this / " + other.label(), ratio);
    System.out.printf("  %-40s %s%n", figure + ", this / this (A/A)", same);
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("scenario", scenario.name());
    result.put("figure", figure);
    result.put("against", other.label());
    result.put("ratio", ratio);
    result.put("sameCommit", same);
    result.put("withinSameCommit", ratio.median() >= same.min() && ratio.median() <= same.max());
    results.add(result);
    System.out.println("RESULT " + json.writeValueAsString(result));
  }
}
