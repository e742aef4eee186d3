package io.rdmashuffle.benchmarks.fetch;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;

/**
 * Map-output files of equal blocks: block {@code p} of file {@code m} starts at {@code p *
 * blockBytes}.
 *
 * @param folder where they lie
 * @param maps number of files
 * @param partitions blocks per file
 * @param blockBytes size of a block
 * @param registeredBytes what a process may register to serve or fetch them by RDMA
 */
record Layout(Path folder, int maps, int partitions, int blockBytes, long registeredBytes) {
  Path file(int map) {
    return folder.resolve("shuffle_0_" + map + "_0.data");
  }

  long fileBytes() {
    return (long) partitions * blockBytes;
  }

  int blocks() {
    return maps * partitions;
  }

  /** Fills the files with bytes that only the seed decides. */
  void create(long seed) throws IOException {
    Files.createDirectories(folder);
    SplittableRandom random = new SplittableRandom(seed);
    byte[] block = new byte[blockBytes];
    for (int map = 0; map < maps; map++) {
      try (OutputStream out = Files.newOutputStream(file(map))) {
        for (int partition = 0; partition < partitions; partition++) {
          random.nextBytes(block);
          out.write(block);
        }
      }
    }
  }

  /** As command line arguments of the two processes. */
  String[] arguments() {
    return new String[] {
      folder.toString(),
      String.valueOf(maps),
      String.valueOf(partitions),
      String.valueOf(blockBytes),
      String.valueOf(registeredBytes)
    };
  }

  static Layout parse(String[] arguments, int from) {
    return new Layout(
        Path.of(arguments[from]),
        Integer.parseInt(arguments[from + 1]),
        Integer.parseInt(arguments[from + 2]),
        Integer.parseInt(arguments[from + 3]),
        Long.parseLong(arguments[from + 4]));
  }
}
