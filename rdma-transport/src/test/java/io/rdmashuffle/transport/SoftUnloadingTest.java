package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.testing.HeldNatives;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.testing.SoftAdapter;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A JVM that opens and closes many transports, each with libraries of its own, keeps none. */
final class SoftUnloadingTest {
  private static final int CYCLES = 200;
  @TempDir private Path folder;

  @Test
  void librariesAreUnloadedWithTheirProvider() throws Exception {
    for (int i = 0; i < 10; i++) {
      openAndClose();
    }
    HeldNatives afterTen = HeldNatives.afterCollection(HeldNatives.now());
    for (int i = 10; i < CYCLES; i++) {
      openAndClose();
    }

    HeldNatives afterAll = HeldNatives.afterCollection(afterTen);

    assertThat(afterAll.isWithin(afterTen)).as("%s, after ten %s", afterAll, afterTen).isTrue();
  }

  @Test
  void aDeviceOutlivesItsProviderAndUnloadsWhatItUsed() throws Exception {
    InetAddress address = InetAddress.getByName("127.0.0.1");
    HeldNatives before = HeldNatives.now();
    DisniProvider provider = SoftAdapter.load();
    Device device = provider.open(address);
    provider.close();

    device.allocateProtectionDomain().close();
    assertThat(device.pollAsyncEvent()).isNull();
    device.close();

    assertThat(HeldNatives.now().descriptors()).isLessThanOrEqualTo(before.descriptors());
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
