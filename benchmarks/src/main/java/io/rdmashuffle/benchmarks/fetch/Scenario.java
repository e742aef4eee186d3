package io.rdmashuffle.benchmarks.fetch;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What is fetched, and how.
 *
 * @param name in reports
 * @param maps files
 * @param partitions blocks per file
 * @param blockBytes size of a block
 * @param perRequest blocks of one request, as Spark would ask: a fifth of 48 MB, or 500 small ones
 * @param parallel requests at a time
 * @param blocks fetched per measurement
 * @param registeredBytes what a process may register
 */
record Scenario(
    String name,
    int maps,
    int partitions,
    int blockBytes,
    int perRequest,
    int parallel,
    int blocks,
    long registeredBytes) {
  private static final long ENOUGH = 1L << 30;
  private static final int WARM_UPS = 3;

  /** Fewer, and what is measured are interpreted loops that run once per block or window. */
  private static final int WARM_UP_BLOCKS = 100_000;

  /** What runs if nothing is named. */
  static final List<String> USUAL = List.of("large", "small", "single");

  static final Scenario LARGE = new Scenario("1 MiB blocks", 8, 32, 1 << 20, 9, 5, 2304, ENOUGH);
  static final Scenario SMALL = new Scenario("6 KB blocks", 125, 128, 6144, 500, 5, 48_000, ENOUGH);
  static final Scenario SINGLE = new Scenario("one 4 KiB block", 8, 512, 4096, 1, 1, 2000, ENOUGH);

  /**
   * @param part a word, or the name of a scenario under a small budget
   */
  static List<Scenario> of(String part) {
    return switch (part) {
      case "large" -> List.of(LARGE);
      case "small" -> List.of(SMALL);
      case "single" -> List.of(SINGLE);
      case "scarce" -> scarce();
      default -> List.of(scarce(part));
    };
  }

  /** A gigabyte of map outputs, all of it fetched once, under a share of it as a budget. */
  private static List<Scenario> scarce() {
    List<Scenario> scenarios = new ArrayList<>();
    for (int percent : new int[] {1, 10}) {
      long budget = 1_000_000_000L * percent / 100;
      scenarios.add(
          new Scenario(
              "8 KB blocks, budget " + percent + " %", 500, 250, 8_000, 500, 5, 125_000, budget));
      scenarios.add(
          new Scenario(
              "200 KB blocks, budget " + percent + " %", 250, 20, 200_000, 48, 5, 5_000, budget));
    }
    return scenarios;
  }

  Layout layout(Path folder) {
    return new Layout(
        folder.resolve(name.replaceAll("[ ,%]+", "-")),
        maps,
        partitions,
        blockBytes,
        registeredBytes);
  }

  private static Scenario scarce(String name) {
    return scarce().stream()
        .filter(s -> s.name().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("not large, small, single or scarce: " + name));
  }

  /** Whether blocks may come by Netty for want of memory. */
  boolean isScarce() {
    return registeredBytes < ENOUGH;
  }

  /** Whether single blocks are timed, one after the other, instead of a stream of them. */
  boolean isLatency() {
    return equals(SINGLE);
  }

  /** Measurements that do not count, in new processes. */
  int warmUps() {
    return Math.max(WARM_UPS, WARM_UP_BLOCKS / blocks);
  }

  double gigabytes() {
    return (double) blocks * blockBytes / 1e9;
  }
}
