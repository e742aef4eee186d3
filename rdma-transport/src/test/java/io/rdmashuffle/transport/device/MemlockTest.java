package io.rdmashuffle.transport.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MemlockTest {
  private static final String ALL = "000001ffffffffff";
  private static final String NONE = "0000000000000000";
  @TempDir private Path root;

  private long bytes(String limit, String capabilities, String userIds) throws Exception {
    SysfsTree tree = new SysfsTree(root).memlock(limit, capabilities, userIds);
    return Memlock.bytes(tree.paths().process());
  }

  @Test
  void theLimitIsTheKernels() throws Exception {
    assertThat(bytes("8388608", NONE, SysfsTree.FIRST_NAMESPACE)).isEqualTo(8 << 20);
    assertThat(bytes("unlimited", NONE, SysfsTree.FIRST_NAMESPACE)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void aCapabilityCountsOutsideOfContainersOwnNamespacesOnly() throws Exception {
    assertThat(bytes("8388608", ALL, SysfsTree.FIRST_NAMESPACE)).isEqualTo(Long.MAX_VALUE);
    assertThat(bytes("8388608", ALL, "         0       1000          1")).isEqualTo(8 << 20);
  }
}
