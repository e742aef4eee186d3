package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.HostCommands;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reads at random over connections that come and go, for {@code -Drdmashuffle.test.churnSeconds}:
 * afterwards the kernel holds what it held before. Needs root and a machine of its own: it counts
 * what the whole kernel has.
 */
final class SystemChurnTest {
  private static final int BLOCK_BYTES = 64 << 10;
  private static final int BLOCKS = 64;
  private static final int SECONDS = Integer.getInteger("rdmashuffle.test.churnSeconds", 60);
  private static final long SEED =
      Long.getLong("rdmashuffle.test.seed", System.nanoTime() & Integer.MAX_VALUE);

  /** Time for processes to start, and for the last connection. */
  private static final int SPARE_SECONDS = 300;

  /** Fields of /proc/meminfo that a leak of the kernel shows in. */
  private static final Set<String> KERNEL_MEMORY =
      Set.of("SUnreclaim:", "VmallocUsed:", "Percpu:", "KernelStack:", "PageTables:");

  /** Allocators keep some of what they have had. */
  private static final long TOLERATED_KIB = 8 << 10;

  @TempDir private Path folder;

  @Test
  void theKernelHoldsNothingOfConnectionsThatAreGone() throws Exception {
    TestDevice.ofSystem();
    churn(1); // fills what the kernel keeps for good
    String resources = resources();
    long pinned = pinnedPages();
    long memoryKib = kernelMemoryKib();

    churn(SECONDS);

    System.out.printf(
        "CHURN kernel memory %d KiB, then %d KiB; pinned pages %d, then %d; %s%n",
        memoryKib, kernelMemoryKib(), pinned, pinnedPages(), resources());
    assertThat(resources()).isEqualTo(resources);
    assertThat(pinnedPages()).isEqualTo(pinned);
    assertThat(kernelMemoryKib()).isLessThan(memoryKib + TOLERATED_KIB);
  }

  private void churn(int seconds) throws Exception {
    Path output = folder.resolve("churn.log");
    try (OwnerProcess owner = OwnerProcess.start(folder, BLOCK_BYTES, BLOCKS)) {
      List<String> command = ChildJvm.command(ChurnReader.class);
      for (long argument :
          new long[] {owner.commands().getPort(), BLOCK_BYTES, BLOCKS, seconds, SEED}) {
        command.add(String.valueOf(argument));
      }
      System.out.println("CHURN of " + seconds + " s, seed " + SEED);
      Process reader =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      boolean ended = reader.waitFor(seconds + SPARE_SECONDS, TimeUnit.SECONDS);
      reader.destroyForcibly().waitFor();
      String text = Files.readString(output);
      assertThat(ended).as("ends in time:\n" + text).isTrue();
      assertThat(text).containsPattern("CHURNED [1-9][0-9]* connections, [1-9][0-9]* blocks");
      assertThat(reader.exitValue()).as(text).isZero();
      System.out.println(text.lines().filter(line -> line.startsWith("CHURNED")).findFirst().get());
    }
  }

  private static String resources() throws Exception {
    return HostCommands.run("rdma resource show").strip();
  }

  /** Pages that are pinned for adapters now (Documentation/core-api/pin_user_pages.rst). */
  private static long pinnedPages() throws IOException {
    Map<String, Long> counts =
        Files.readAllLines(Path.of("/proc/vmstat")).stream()
            .map(line -> line.split(" "))
            .collect(Collectors.toMap(words -> words[0], words -> Long.parseLong(words[1])));
    return counts.get("nr_foll_pin_acquired") - counts.get("nr_foll_pin_released");
  }

  private static long kernelMemoryKib() throws Exception {
    HostCommands.run("sync && echo 3 >/proc/sys/vm/drop_caches");
    return Files.readAllLines(Path.of("/proc/meminfo")).stream()
        .map(line -> line.split(" +"))
        .filter(words -> KERNEL_MEMORY.contains(words[0]))
        .mapToLong(words -> Long.parseLong(words[1]))
        .sum();
  }
}
