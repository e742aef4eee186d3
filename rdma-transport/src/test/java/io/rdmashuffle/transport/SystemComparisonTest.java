package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.HostCommands;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.ReadCost;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole blocks through this transport against bare READs of Debian's perftest, on one adapter and
 * in one boot. Prints both and their ratio. The ratio of an emulated machine proves nothing, and
 * its processors stand still as often as others want the host's: only gross failure fails, which is
 * one that no round is spared.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class SystemComparisonTest {
  private static final Duration WARM_UP = Duration.ofSeconds(120);
  private static final int ROUNDS = 5;
  private final String adapter = System.getProperty("rdmashuffle.test.kind") + "0";
  @TempDir private Path folder;
  private TestDevice device;
  private DisniProvider provider;

  @BeforeAll
  void load() throws Exception {
    device = TestDevice.ofSystem();
    provider = device.load();
  }

  @AfterAll
  void unload() {
    if (provider != null) {
      provider.close();
    }
  }

  /** All at once, as an engine has several fetches open: its READs follow on each other. */
  @Test
  void bandwidthOfLargeBlocks() throws Exception {
    int blocks = 64;
    String tool = "ib_read_bw -s 1048576 -n 100";
    double before = perftest(tool, 1_048_576, 3);
    double[] ours = blocksPerSecond(1 << 20, blocks, 8);
    double theirs = (before + perftest(tool, 1_048_576, 3)) / 2; // a host is not always as busy
    report("MiB/s, blocks of 1 MiB", "ib_read_bw -R", theirs, ours);
    assertThat(ours[ROUNDS - 1]).as("the best").isGreaterThan(theirs / 4);
  }

  @Test
  void rateOfSmallBlocks() throws Exception {
    String tool = "ib_read_bw -s 4096 -n 1000";
    double before = perftest(tool, 4096, 4);
    double[] ours = blocksPerSecond(4096, 1024, 256);
    double theirs = (before + perftest(tool, 4096, 4)) / 2 * 1e6;
    report("blocks of 4 KiB per second", "ib_read_bw -R", theirs, ours);
    assertThat(ours[ROUNDS - 1]).as("the best").isGreaterThan(theirs / 50);
  }

  private double[] blocksPerSecond(int blockBytes, int blocks, int blocksPerFetch)
      throws Exception {
    double[] rates = new double[ROUNDS];
    try (OwnerProcess owner = OwnerProcess.start(folder, blockBytes, blocks);
        RemotePeer reader =
            new RemotePeer(provider, device.address(), owner.commands(), blockBytes)) {
      reader.awaitRdma(WARM_UP);
      for (int round = -3; round < ROUNDS; round++) { // three to register windows and compile
        List<Collected> fetches = new ArrayList<>();
        long start = System.nanoTime();
        for (int first = 0; first < blocks; first += blocksPerFetch) {
          fetches.add(reader.fetch(first, first + blocksPerFetch));
        }
        for (Collected fetch : fetches) {
          fetch.await(RemotePeer.LIMIT);
        }
        long elapsedNs = System.nanoTime() - start;
        assertThat(arrived(reader, fetches, round == ROUNDS - 1)).isEqualTo(blocks);
        rates[Math.max(0, round)] = blocks * 1e9 / elapsedNs;
      }
    }
    return rates;
  }

  /** Comparing takes an emulated JVM longer than reading. */
  private static int arrived(RemotePeer reader, List<Collected> fetches, boolean compare)
      throws Exception {
    int arrived = 0;
    for (Collected fetch : fetches) {
      if (compare) {
        arrived += reader.check(fetch);
      } else {
        arrived += fetch.arrived();
        fetch.close();
      }
    }
    return arrived;
  }

  /** Like with like: both post one READ, sleep until it has completed, and post the next. */
  @Test
  void latencyOfSingleReads() throws Exception {
    double theirs = perftest("ib_read_lat -e -s 4096 -n 500", 4096, 4);
    double[] ours = ReadCost.latenciesNs(provider, device.address(), 4096, 500, 500);
    for (int i = 0; i < ours.length; i++) {
      ours[i] /= 1e3;
    }
    report("us, one READ of 4 KiB at a time", "ib_read_lat -R -e", theirs, ours);
    assertThat(ours[0]).as("the best").isLessThan(theirs * 20);
  }

  /** What a reader waits for: the owner is asked and copies, then comes the READ, then delivery. */
  @Test
  void latencyOfSingleBlocks() throws Exception {
    double theirs = perftest("ib_read_lat -e -s 4096 -n 500", 4096, 4);
    double[] ours = new double[300];
    try (OwnerProcess owner = OwnerProcess.start(folder, 4096, 4);
        RemotePeer reader = new RemotePeer(provider, device.address(), owner.commands(), 4096)) {
      reader.awaitRdma(WARM_UP);
      for (int round = -300; round < ours.length; round++) {
        long start = System.nanoTime();
        Collected fetch = reader.fetch(1, 2).await(RemotePeer.LIMIT);
        long elapsedNs = System.nanoTime() - start;
        assertThat(reader.check(fetch)).isEqualTo(1);
        ours[Math.max(0, round)] = elapsedNs / 1e3;
      }
      long readNs = reader.transport().counters().readLatency().quantileNs(0.5);
      System.out.printf(Locale.ROOT, "of that the READ: up to %.1f us%n", readNs / 1e3);
    }
    report("us, one block of 4 KiB at a time", "ib_read_lat -R -e", theirs, ours);
    assertThat(ours[0]).as("the best").isLessThan(theirs * 100);
  }

  private static void report(String what, String tool, double theirs, double[] ours) {
    Arrays.sort(ours);
    double median = ours[ours.length / 2];
    System.out.printf(
        Locale.ROOT,
        "COMPARISON %s: this %.1f (%.1f to %.1f), %s %.1f, this / theirs %.2f%n",
        what,
        median,
        ours[0],
        ours[ours.length - 1],
        tool,
        theirs,
        median / theirs);
  }

  /** One figure of the line that perftest's client prints for a size. */
  private double perftest(String command, int bytes, int column) throws Exception {
    String tool = "timeout 30 " + command + " -R -F -d " + adapter;
    String client = tool + " " + device.address().getHostAddress();
    String output =
        HostCommands.run( // now and then one of both hangs, or crashes when it is early
            "for round in 1 2 3; do "
                + (tool + " >/dev/null 2>&1 & for i in {1..50}; do sleep 0.2; ")
                + (client + " && exit; kill -0 $! || break; done; wait; done; exit 1"));
    return output
        .lines()
        .map(line -> line.strip().split("\\s+"))
        .filter(words -> words[0].equals(String.valueOf(bytes)) && words.length > column)
        .mapToDouble(words -> Double.parseDouble(words[column]))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no figure in the output of " + tool + output));
  }
}
