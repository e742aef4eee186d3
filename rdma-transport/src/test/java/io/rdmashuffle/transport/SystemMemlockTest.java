package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
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
  private static final long ENOUGH_BYTES = 64L << 20;
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

  @Test
  void theLimitCostsSpeedAtMost() throws Exception {
    int arrived = 0;
    try (OwnerProcess owner = OwnerProcess.start(folder, BLOCK_BYTES, BLOCKS);
        RemotePeer reader =
            new RemotePeer(provider, device.address(), owner.commands(), BLOCK_BYTES)) {
      if (limitBytes >= ENOUGH_BYTES) {
        reader.awaitRdma(Duration.ofSeconds(120));
      }
      for (int first = 0; first < BLOCKS; first += 10) {
        arrived += reader.check(reader.fetch(first, first + 10));
      }
    }
    System.out.printf("MEMLOCK %d: %d of %d blocks by RDMA%n", limitBytes, arrived, BLOCKS);
    if (limitBytes >= ENOUGH_BYTES) {
      assertThat(arrived).isEqualTo(BLOCKS);
    }
  }
}
