package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.memory.ByteText;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two processes whose memlock limit the kernel enforces: they run under {@code prlimit} and without
 * CAP_IPC_LOCK. {@code -Drdmashuffle.test.memlock} repeats the limit, in bytes.
 */
final class SystemMemlockTest {
  private static final int BLOCK_BYTES = 200 << 10;
  private static final int BLOCKS = 40;
  private static final long ONE_CONNECTION_BYTES = 1L << 20;
  private final long limitBytes = Long.getLong("rdmashuffle.test.memlock");
  @TempDir private Path folder;
  private TestDevice device;
  private DisniProvider provider;

  @BeforeEach
  void load() throws Exception {
    device = TestDevice.ofSystem();
    provider = device.load();
  }

  @AfterEach
  void unload() {
    assertThat(provider.openObjects()).isZero();
    provider.close();
  }

  @Test
  void theLimitIsSeen() {
    assertThat(provider.hostMemory().memlockBytes()).isEqualTo(limitBytes);
  }

  /** All blocks come where a connection fits, and elsewhere opening says what is missing. */
  @Test
  void theLimitCostsSpeedAtMost() throws Exception {
    if (limitBytes < ONE_CONNECTION_BYTES) {
      InetSocketAddress nobody = new InetSocketAddress("127.0.0.1", 9);
      assertThatThrownBy(() -> new RemotePeer(provider, device.address(), nobody, BLOCK_BYTES))
          .isInstanceOfSatisfying(
              TransportException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFIG))
          .hasMessageContaining("memlock limit of " + ByteText.of(limitBytes));
      return;
    }
    int arrived = 0;
    try (OwnerProcess owner = OwnerProcess.start(folder, BLOCK_BYTES, BLOCKS);
        RemotePeer reader =
            new RemotePeer(provider, device.address(), owner.commands(), BLOCK_BYTES)) {
      reader.awaitRdma(Duration.ofSeconds(120));
      for (int first = 0; first < BLOCKS; first += 10) {
        arrived += reader.check(reader.fetch(first, first + 10));
      }
    }
    System.out.printf("MEMLOCK %d: %d of %d blocks by RDMA%n", limitBytes, arrived, BLOCKS);
    assertThat(arrived).isEqualTo(BLOCKS);
  }
}
