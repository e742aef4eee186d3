package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import org.junit.jupiter.api.Test;

/** An Error at each step of posting READs. */
final class ShortageTest {
  private static final int BLOCKS = 8;

  @Test
  void aChainThatCannotBeFilledKeepsNoMemory() {
    int failures = 0;
    while (failsAt(failures)) {
      failures++;
    }
    assertThat(failures).as("READs of %s blocks, some copied out", BLOCKS).isGreaterThan(BLOCKS);
  }

  /** Returns false if there are not so many steps. The rig checks that no chunk is kept. */
  private static boolean failsAt(int step) {
    try (ClientRig rig = new ClientRig(Setup.standard().withChunks(6, 2).withReadBytes(20_000))) {
      Owner owner = new Owner(50_000);
      ScriptedReaderChannel channel = rig.connected(owner);
      Results results = new Results(rig.keys(BLOCKS));
      rig.memory.failAfter(step);

      try {
        rig.client.fetch(ClientRig.PEER, results.keys(), results);
        rig.serve(channel, owner);
      } catch (OutOfMemoryError e) {
        rig.loop.recover(e);
        rig.settle();
      }

      boolean failed = rig.memory.hasFailed();
      rig.fail(channel);
      assertThat(results.reported()).isEqualTo(BLOCKS);
      results.checkWhatCame(owner);
      return failed;
    }
  }
}
