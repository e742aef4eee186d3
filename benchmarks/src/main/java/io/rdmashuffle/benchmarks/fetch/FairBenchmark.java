package io.rdmashuffle.benchmarks.fetch;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToDoubleFunction;

/**
 * The program behind {@code dev/bench fair}: what an honest reader gets of an owner alone, and
 * beside a {@link HostileReader} that connects again whenever it is cut off. Both in turns, with
 * the same three processes. Arguments: the folder to work in, the number of repetitions, and which
 * parts to run: {@code large} or {@code small}; both if none is named.
 *
 * <p>The hostile process has the lowest priority: it stands for one on another machine, so its own
 * CPU is not the honest reader's.
 */
public final class FairBenchmark {
  private static final List<String> PARTS = List.of("large", "small");
  private static final List<String> LOWEST_PRIORITY = List.of("nice", "-n", "19");

  private final Path folder;
  private final int repetitions;
  private volatile boolean attacking;

  private FairBenchmark(Path folder, int repetitions) {
    this.folder = folder;
    this.repetitions = repetitions;
  }

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]).toAbsolutePath();
    Files.createDirectories(folder);
    FairBenchmark benchmark = new FairBenchmark(folder, Integer.parseInt(arguments[1]));
    List<String> parts = List.of(arguments).subList(2, arguments.length);
    for (String part : parts.isEmpty() ? PARTS : parts) {
      for (Scenario scenario : Scenario.of(part)) {
        benchmark.compare(scenario);
      }
    }
  }

  private void compare(Scenario scenario) throws Exception {
    Layout layout = scenario.layout(folder);
    layout.create(1);
    System.out.printf("== %s, %d repetitions%n", scenario.name(), repetitions);
    List<Pair.Sample> alone = new ArrayList<>();
    List<Beside> beside = new ArrayList<>();
    ExecutorService attacker = Executors.newSingleThreadExecutor();
    try (Pair pair = Pair.start(Harness.own(), FetchTransports.RDMA, layout, folder);
        Child hostile = startHostile(layout)) {
      for (int round = -scenario.warmUps(); round < repetitions; round++) {
        Pair.Sample undisturbed = stream(pair, scenario);
        Beside disturbed = streamUnderAttack(pair, hostile, scenario, attacker);
        if (round >= 0) {
          alone.add(undisturbed);
          beside.add(disturbed);
        }
      }
    } finally {
      attacker.shutdown();
    }
    report(scenario, alone, beside);
  }

  private Child startHostile(Layout layout) throws IOException {
    List<String> command = new ArrayList<>(LOWEST_PRIORITY);
    command.addAll(Harness.own().hostileReader());
    Child hostile =
        Child.start(command, folder.resolve("hostile.log")).with(layout.arguments()).run();
    hostile.answer("READY");
    return hostile;
  }

  private static Pair.Sample stream(Pair pair, Scenario s) throws IOException {
    return pair.stream(s.perRequest(), s.parallel(), s.blocks());
  }

  /** The attack begins before and ends after what is measured. */
  private Beside streamUnderAttack(
      Pair pair, Child hostile, Scenario scenario, ExecutorService attacker)
      throws IOException, InterruptedException, ExecutionException {
    attacking = true;
    Attack attack = new Attack(pair, hostile);
    attack.connect();
    Future<Attack> over = attacker.submit(attack);
    try {
      return new Beside(stream(pair, scenario), attack);
    } finally {
      attacking = false;
      over.get();
    }
  }

  /** Connects and is cut off until told to stop. */
  private final class Attack implements Callable<Attack> {
    private final Pair pair;
    private final Child hostile;
    private final long beginNs = System.nanoTime();
    private long connections;
    private long refused;
    private long requests;
    private long endNs;

    Attack(Pair pair, Child hostile) {
      this.pair = pair;
      this.hostile = hostile;
    }

    void connect() throws IOException {
      long answered = Long.parseLong(hostile.ask(pair.invitation(), "CUT"));
      connections++;
      refused += answered == 0 ? 1 : 0;
      requests += answered;
    }

    @Override
    public Attack call() throws IOException {
      while (attacking) {
        connect();
      }
      endNs = System.nanoTime();
      return this;
    }

    double perSecond(long count) {
      return count * 1e9 / (endNs - beginNs);
    }
  }

  private record Beside(Pair.Sample sample, Attack attack) {}

  private static void report(Scenario scenario, List<Pair.Sample> alone, List<Beside> beside)
      throws IOException {
    List<Pair.Sample> samples = beside.stream().map(Beside::sample).toList();
    print("GB/s alone", spread(alone, s -> scenario.gigabytes() / (s.wallNs() / 1e9)));
    print("GB/s beside", spread(samples, s -> scenario.gigabytes() / (s.wallNs() / 1e9)));
    Spread throughput = ratio(alone, samples, Pair.Sample::wallNs);
    print("throughput, beside / alone", throughput);
    print("owner's CPU, beside / alone", ratio(samples, alone, Pair.Sample::ownerCpuNs));
    print("honest reader's CPU, beside / alone", ratio(samples, alone, Pair.Sample::readerCpuNs));
    print(
        "% of blocks by Netty, beside",
        spread(samples, s -> 100.0 * s.byNetty() / scenario.blocks()));
    print(
        "hostile connections per s",
        spread(beside, b -> b.attack().perSecond(b.attack().connections)));
    print("of these made none", spread(beside, b -> b.attack().perSecond(b.attack().refused)));
    print(
        "hostile requests answered per s",
        spread(beside, b -> b.attack().perSecond(b.attack().requests)));
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("scenario", scenario.name());
    result.put("figure", "throughput, beside / alone");
    result.put("ratio", throughput);
    System.out.println("RESULT " + new ObjectMapper().writeValueAsString(result));
  }

  private static void print(String name, Spread spread) {
    System.out.printf("  %-40s %s%n", name, spread);
  }

  private static <T> Spread spread(List<T> samples, ToDoubleFunction<T> figure) {
    return Spread.of(samples.stream().mapToDouble(figure).toArray());
  }

  private static Spread ratio(
      List<Pair.Sample> above, List<Pair.Sample> below, ToDoubleFunction<Pair.Sample> figure) {
    return Spread.ratio(
        above.stream().mapToDouble(figure).toArray(), below.stream().mapToDouble(figure).toArray());
  }
}
