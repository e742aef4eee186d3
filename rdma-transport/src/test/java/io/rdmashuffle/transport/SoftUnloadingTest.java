package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.testing.SoftAdapter;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM that opens and closes many transports, each with libraries of its own, keeps none. */
final class SoftUnloadingTest {
  private static final int CYCLES = 200;
  private static final Path PROCESS = Path.of("/proc/self");
  @TempDir private Path folder;

  /** What this process holds of the adapter's libraries, and its descriptors. */
  private record Held(long mappings, long descriptors) {
    static Held now() throws IOException {
      try (Stream<String> maps = Files.lines(PROCESS.resolve("maps"));
          Stream<Path> descriptors = Files.list(PROCESS.resolve("fd"))) {
        return new Held(
            maps.filter(line -> line.matches(".*(libdisni\\.so|libsofthca\\.so|:softhca).*"))
                .count(),
            descriptors.count());
      }
    }

    boolean within(Held limit) {
      return mappings <= limit.mappings && descriptors <= limit.descriptors;
    }

    /** libdisni ends with its class loader, when the collector finds it. */
    static Held afterCollection(Held limit) throws IOException {
      long deadlineNs = System.nanoTime() + Patience.of(Duration.ofSeconds(20)).toNanos();
      Held held;
      do {
        System.gc();
        held = now();
      } while (!held.within(limit) && System.nanoTime() < deadlineNs);
      return held;
    }
  }

  @Test
  void librariesAreUnloadedWithTheirProvider() throws Exception {
    for (int i = 0; i < 10; i++) {
      openAndClose();
    }
    Held afterTen = Held.afterCollection(Held.now());
    for (int i = 10; i < CYCLES; i++) {
      openAndClose();
    }

    Held afterAll = Held.afterCollection(afterTen);

    assertThat(afterAll.within(afterTen)).as("%s, after ten %s", afterAll, afterTen).isTrue();
  }

  @Test
  void aDeviceOutlivesItsProviderAndUnloadsWhatItUsed() throws Exception {
    InetAddress address = InetAddress.getByName("127.0.0.1");
    Held before = Held.now();
    DisniProvider provider = SoftAdapter.load();
    Device device = provider.open(address);
    provider.close();

    device.allocateProtectionDomain().close();
    assertThat(device.pollAsyncEvent()).isNull();
    device.close();

    assertThat(Held.now().descriptors()).isLessThanOrEqualTo(before.descriptors());
  }

  private void openAndClose() throws Exception {
    try (DisniProvider provider = SoftAdapter.load();
        RdmaTransport transport =
            RdmaTransport.open(
                new RdmaTransport.Site(
                    provider, InetAddress.getByName("127.0.0.1"), "one", NanoClock.system()),
                new RdmaTransport.Engine(
                    new Outputs(folder),
                    peer ->
                        CompletableFuture.completedFuture(
                            new Invitation.None(FallbackReason.NO_DEVICE, "reads nothing"))),
                Patience.transportDefaults(TransportHarness.ENOUGH))) {
      assertThat(transport.listenAddress()).isNotNull();
    }
  }
}
