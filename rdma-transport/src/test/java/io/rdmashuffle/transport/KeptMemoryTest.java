package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.SoftAdapter;
import java.nio.file.Path;
import java.util.regex.Matcher;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An adapter that keeps a queue pair may write to what was posted to it. */
final class KeptMemoryTest {
  private static final int BLOCK_BYTES = 256 << 10;
  private static final int BLOCKS = 8;

  /** A READ of a later round breaks the queue pair, which then cannot be destroyed. */
  private static final String FAULTS = "wc:op=READ,n=28,status=REM_ACCESS_ERR;destroy_qp:errno=EIO";

  @TempDir private Path folder;

  @BeforeAll
  static void requireSoft() {
    SoftAdapter.require();
  }

  @Test
  void whatWasPostedToAQueuePairThatCannotBeDestroyedStaysOutOfUse() throws Exception {
    try (OwnerProcess owner = OwnerProcess.start(folder, BLOCK_BYTES, BLOCKS);
        RemoteReader reader = RemoteReader.start(folder, owner, BLOCK_BYTES, BLOCKS, FAULTS)) {
      String whole = reader.awaitRound(BLOCKS);
      String broken = reader.awaitLine("ARRIVED ");
      while (broken.startsWith("ARRIVED " + BLOCKS + " ")) {
        broken = reader.awaitLine("ARRIVED ");
      }
      String again = reader.awaitRound(BLOCKS);

      assertThat(broken).contains("[TRANSFER_FAILED]");
      assertThat(reader.log()).as("fetches that waited for it").doesNotContain("did not deliver");
      assertThat(level("pool.chunks-out", again))
          .as("chunks being filled, and those that READs were under way to")
          .isGreaterThan(level("pool.chunks-out", whole));
      assertThat(level("connections", again)).isEqualTo(level("connections", whole) + 1);
      assertThat(level("registered-bytes.messages", again))
          .isEqualTo(2 * level("registered-bytes.messages", whole));
      assertThat(reader.log().lines().filter(line -> line.contains("could not be destroyed")))
          .singleElement()
          .asString()
          .contains("what was posted to it stays out of use");
    }
  }

  private static long level(String name, String line) {
    Matcher level = java.util.regex.Pattern.compile("[{ ]" + name + "=(\\d+)").matcher(line);
    assertThat(level.find()).as("%s in %s", name, line).isTrue();
    return Long.parseLong(level.group(1));
  }
}
