package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.HostCommands;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An adapter that is taken away from running processes, and given back. rxe and siw cannot take a
 * device away from processes that have it open (no disassociate_ucontext), and librdmacm keeps it
 * open until its process ends: so nothing is loaded here, and the command waits for the others.
 */
final class SystemRemovalTest {
  private static final int BLOCK_BYTES = 1 << 20;
  private static final int BLOCKS = 8;
  private static final String KIND = System.getProperty("rdmashuffle.test.kind");
  @TempDir private Path folder;

  @BeforeAll
  static void requireAdapter() throws Exception {
    TestDevice.ofSystem();
  }

  @Test
  void itCostsFallbacksAndOtherProcessesUseTheNextOne() throws Exception {
    Process deletion;
    try (OwnerProcess owner = OwnerProcess.start(folder, BLOCK_BYTES, BLOCKS);
        RemoteReader reader = RemoteReader.start(folder, owner, BLOCK_BYTES, BLOCKS)) {
      reader.awaitRound(BLOCKS);

      deletion = HostCommands.start("rdma link delete " + KIND + "0");

      assertThat(reader.awaitLine("LOST "))
          .contains(KIND + "0 at ", "is lost: DEVICE_REMOVED")
          .doesNotContainPattern("=[1-9]"); // nothing is registered, connected or running
      reader.awaitRound(0);
      assertThat(reader.stop()).doesNotContainPattern("=[1-9]");
    }
    HostCommands.awaitSuccess(deletion);
    HostCommands.run("rdma link add " + KIND + "0 type " + KIND + " netdev eth0");

    try (OwnerProcess owner = OwnerProcess.start(folder, BLOCK_BYTES, BLOCKS);
        RemoteReader reader = RemoteReader.start(folder, owner, BLOCK_BYTES, BLOCKS)) {
      reader.awaitRound(BLOCKS);
    }
  }
}
