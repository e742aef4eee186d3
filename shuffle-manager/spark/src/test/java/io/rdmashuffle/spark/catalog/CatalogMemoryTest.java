package io.rdmashuffle.spark.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.wire.BlockKey;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An executor may own thousands of map outputs of thousands of partitions each. */
final class CatalogMemoryTest {
  private static final int OUTPUTS = 2_000;
  private static final int PARTITIONS = 2_000;
  private static final int LENGTH = 1_000;

  @Test
  void fourMillionBlocksFitIntoAHeapOf64Mebibytes() throws Exception {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx64m",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty("java.class.path"),
                    CatalogMemoryTest.class.getName()))
            .redirectErrorStream(true)
            .start();
    try {
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as(said).isZero();
      long usedMib = Long.parseLong(said.trim());
      assertThat(usedMib).as("heap used by the catalog, in MiB").isBetween(10L, 24L);
    } finally {
      process.destroyForcibly();
    }
  }

  public static void main(String[] args) {
    MapOutputCatalog catalog = new MapOutputCatalog((group, output) -> null);
    for (int output = 0; output < OUTPUTS; output++) {
      long[] lengths = new long[PARTITIONS];
      Arrays.fill(lengths, LENGTH);
      catalog.register(0, output, MapOutput.ofLengths(Path.of("/data/" + output), lengths));
    }
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    long usedBytes = runtime.totalMemory() - runtime.freeMemory();
    for (int output = 0; output < OUTPUTS; output++) {
      int partition = output % PARTITIONS;
      long offset =
          catalog.find(0, new BlockKey(0, output, partition, partition + 1)).offsetBytes();
      if (offset != (long) partition * LENGTH) {
        throw new IllegalStateException("output " + output + " at " + offset);
      }
    }
    System.out.println(usedBytes >> 20);
  }
}
