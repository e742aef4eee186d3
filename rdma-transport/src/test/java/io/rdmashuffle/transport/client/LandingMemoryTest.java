package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.client.ClientRig.Setup;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where blocks are laid out, and who is woken when there is room again. */
final class LandingMemoryTest {
  private static final int CHUNK_BYTES = Setup.CHUNK_BYTES;

  private final ClientRig rig = new ClientRig(Setup.standard().withChunks(4, 1));
  private final LandingMemory memory =
      new LandingMemory(rig.loop, rig.pool, rig.overflow, rig.counters);

  private static List<Integer> sizes(Slice first) {
    List<Integer> sizes = new ArrayList<>();
    for (Slice slice = first; slice != null; slice = slice.next()) {
      sizes.add(slice.bytes());
    }
    return sizes;
  }

  private void end() {
    memory.close();
    rig.close();
  }

  @Test
  void blocksFollowEachOtherAtCacheLines() {
    Slice first = memory.land(100);
    Slice second = memory.land(100);

    assertThat(second.address() - first.address()).isEqualTo(128);
    assertThat(second.chunk()).isSameAs(first.chunk());
    first.releaseAll();
    second.releaseAll();
    end();
  }

  @Test
  void aSmallBlockIsNotSplitAndALargeOneFillsTheRest() {
    Slice before = memory.land(CHUNK_BYTES - 1000);
    Slice large = memory.land(CHUNK_BYTES);
    Slice small = memory.land(5000);

    assertThat(sizes(large)).hasSize(2);
    assertThat(sizes(small)).containsExactly(5000);
    before.releaseAll();
    large.releaseAll();
    small.releaseAll();
    end();
  }

  @Test
  void aBlockThatDoesNotFitTakesNothing() {
    Slice two = memory.land(2L * CHUNK_BYTES);
    int out = rig.pool.chunksOut();

    assertThat(memory.land(2L * CHUNK_BYTES)).isNull();

    assertThat(rig.pool.chunksOut()).isEqualTo(out);
    two.releaseAll();
    end();
  }

  @Test
  void theReserveIsLeftToTransit() {
    Slice all = memory.land(3L * CHUNK_BYTES);
    assertThat(memory.land(100)).isNull();

    Slice transit = memory.transit(CHUNK_BYTES);

    assertThat(transit.bytes()).isEqualTo(CHUNK_BYTES);
    assertThat(memory.transit(100)).isNull();
    all.releaseAll();
    transit.releaseAll();
    end();
  }

  @Test
  void whoParksIsWokenOnceWhenAChunkReturns() {
    Slice all = memory.land(3L * CHUNK_BYTES);
    Slice transit = memory.transit(CHUNK_BYTES);
    assertThat(memory.transit(100)).isNull();
    int[] woken = new int[1];
    memory.awaitTransit(() -> woken[0]++);
    rig.loop.runAll();
    assertThat(woken[0]).isZero();

    transit.releaseAll();
    all.releaseAll();
    rig.loop.runAll();

    assertThat(woken[0]).isEqualTo(1);
    end();
  }

  @Test
  void whoParksJustAfterAChunkCameBackIsWokenToo() {
    int[] woken = new int[1];

    memory.awaitTransit(() -> woken[0]++); // there is room
    rig.loop.runAll();

    assertThat(woken[0]).isEqualTo(1);
    end();
  }
}
