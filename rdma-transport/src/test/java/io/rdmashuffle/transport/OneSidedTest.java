package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.testing.SoftAdapter;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One-sided is what RDMA READ is: once an owner has said where blocks lie, it has no part in their
 * way. Here it is a process of its own, stopped by SIGSTOP when the first READ is posted.
 */
final class OneSidedTest {
  private static final int BLOCKS = 48;
  private static final int BLOCK_BYTES = 1 << 20;
  private static final int READ_BYTES = 16 << 10;

  @TempDir Path ownersFolder;
  @TempDir Path readersFolder;

  @Test
  void readsOfBlocksThatWereLocatedCostTheOwnerNoCpu() throws Exception {
    SoftAdapter.require();
    java.lang.Process owner = startOwner();
    try (BufferedReader output = reader(owner)) {
      Invitation invitation = invitation(output.readLine());
      Stopper stopper = new Stopper(owner.pid());
      try (DisniProvider soft = SoftAdapter.load();
          RdmaTransport reader = openReader(soft, invitation, stopper)) {
        stopper.watch(reader.counters());
        Collected fetch = new Collected(keys());
        reader.client().fetch(new Peer("owner", "localhost", 1), keys(), fetch);

        assertThat(fetch.await().reasons()).isEmpty();
        assertThat(reader.counters().value(Counter.READS_POSTED) - stopper.readsBefore)
            .as("READs while the owner was stopped")
            .isGreaterThan(BLOCKS * BLOCK_BYTES / READ_BYTES / 4);
        assertThat(cpuNs(owner.pid())).as("the owner's CPU time").isEqualTo(stopper.cpuBeforeNs);
        signal("CONT", owner.pid());
        fetch.check(sameOutputs());
      }
    } finally {
      owner.destroyForcibly().waitFor();
    }
  }

  private java.lang.Process startOwner() throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            OwnerProgram.class.getName(),
            ownersFolder.toString(),
            String.valueOf(BLOCKS),
            String.valueOf(BLOCK_BYTES));
    return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  private static BufferedReader reader(java.lang.Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  private static Invitation invitation(String line) {
    String[] words = line.split(" ");
    return new Invitation.Ticket(
        List.of(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(words[0]))),
        Long.parseLong(words[1]),
        HexFormat.of().parseHex(words[2]));
  }

  /** Many short READs one after the other, so that nearly all are posted after the first. */
  private RdmaTransport openReader(DisniProvider soft, Invitation invitation, NanoClock clock)
      throws Exception {
    TransportSettings standard = TransportSettings.defaults(TransportHarness.ENOUGH);
    ClientSettings client = standard.client();
    ClientSettings slow =
        new ClientSettings(
            client.poolBytes(),
            client.chunkBytes(),
            client.transitShare(),
            READ_BYTES,
            READ_BYTES,
            client.fetchTimeout(),
            client.discoveryTimeout(),
            client.memoryTimeout(),
            client.breakerMinimum(),
            client.breakerMaximum());
    return RdmaTransport.open(
        new Transport.Site(soft, InetAddress.getLoopbackAddress(), "reader", clock),
        new RdmaTransport.Engine(
            new Outputs(readersFolder), peer -> CompletableFuture.completedFuture(invitation)),
        new TransportSettings(
            standard.channel(), standard.server(), slow, standard.memory(), standard.overflow()));
  }

  private static List<BlockKey> keys() {
    return Stream.iterate(0, i -> i + 1)
        .limit(BLOCKS)
        .map(i -> new BlockKey(1, 0, i, i + 1))
        .toList();
  }

  /** The owner's content, made anew: it follows from the sizes. */
  private Outputs sameOutputs() throws IOException {
    Outputs outputs = new Outputs(readersFolder);
    outputs.write(OwnerProgram.blockSizes(BLOCKS, BLOCK_BYTES));
    return outputs;
  }

  private static void signal(String name, long pid) throws IOException {
    try {
      int exit = new ProcessBuilder("kill", "-" + name, String.valueOf(pid)).start().waitFor();
      assertThat(exit).isZero();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  /** Of all threads of a process that starts and ends none meanwhile: proc_pid_schedstat(5). */
  private static long cpuNs(long pid) throws IOException {
    try (Stream<Path> threads = Files.list(Path.of("/proc", String.valueOf(pid), "task"))) {
      long sum = 0;
      for (Path thread : threads.toList()) {
        sum += Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ")[0]);
      }
      return sum;
    }
  }

  /**
   * Stops a process once, when the first READs are posted, and remembers how things were then. It
   * is the clock of the thread that posts them, so that none is posted while that takes its time.
   */
  private static final class Stopper implements NanoClock {
    private static final String POSTING = "rdma-shuffle-progress";
    private final long pid;
    private volatile Counters counters = new Counters();
    private boolean begun; // on the thread that posts
    private volatile long cpuBeforeNs;
    private volatile long readsBefore;

    Stopper(long pid) {
      this.pid = pid;
    }

    void watch(Counters ofTheReader) {
      counters = ofTheReader;
    }

    @Override
    public long nanoTime() {
      if (Thread.currentThread().getName().startsWith(POSTING) && !begun && hasPosted()) {
        begun = true;
        stop();
      }
      return System.nanoTime();
    }

    private boolean hasPosted() {
      return counters.value(Counter.READS_POSTED) > 0;
    }

    private void stop() {
      try {
        signal("STOP", pid);
        while (Files.readString(Path.of("/proc", String.valueOf(pid), "stat")).contains(") R")) {
          Thread.onSpinWait();
        }
        cpuBeforeNs = cpuNs(pid);
        readsBefore = counters.value(Counter.READS_POSTED);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
