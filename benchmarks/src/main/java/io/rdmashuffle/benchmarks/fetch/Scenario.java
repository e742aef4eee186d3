package io.rdmashuffle.benchmarks.fetch;

import java.nio.file.Path;

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
 */
record Scenario(
    String name,
    int maps,
    int partitions,
    int blockBytes,
    int perRequest,
    int parallel,
    int blocks) {
  static final Scenario LARGE = new Scenario("1 MiB blocks", 8, 32, 1 << 20, 9, 5, 2304);
  static final Scenario SMALL = new Scenario("6 KB blocks", 125, 128, 6144, 500, 5, 48_000);
  static final Scenario SINGLE = new Scenario("one 4 KiB block", 8, 512, 4096, 1, 1, 2000);

  Layout layout(Path folder) {
    return new Layout(folder.resolve(name.replace(' ', '-')), maps, partitions, blockBytes);
  }

  double gigabytes() {
    return (double) blocks * blockBytes / 1e9;
  }
}
