package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.NO_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import io.rdmashuffle.transport.wire.BlockKey;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks that find no room in the pool, and the memory that they are copied to. */
final class OverflowMemoryTest extends SmallMemory {
  private static final int CHUNK_BYTES = Setup.CHUNK_BYTES;

  @Test
  void whatFindsNoRoomBesideHeldBlocksFallsBackAtOnce() {
    open(SMALL.withOverflow(3), 60_000);
    long startNs = rig.loop.nowNs();
    Results results = rig.fetch(10);

    rig.serve(channel, owner);

    assertThat(rig.loop.nowNs()).as("nobody waited for a consumer").isEqualTo(startNs);
    assertThat(results.arrived()).as("two in place, three beside").isEqualTo(5);
    assertThat(results.reasons()).containsOnly(null, NO_MEMORY);
    results.checkWhatCame(owner);
    Results next = rig.fetch(5);
    rig.serve(channel, owner);
    assertThat(next.arrived()).as("there is room again").isEqualTo(5);
    next.checkAndClose(owner);
    end();
  }

  @Test
  void aBlockThatIsTooLargeNowLeavesTheRoomToSmallerOnes() {
    open(SMALL.withOverflow(4), 60_000);
    Results held = rig.fetch(4); // in place and two chunks beside
    rig.serve(channel, owner);
    List<BlockKey> keys = rig.keys(3);
    owner.place(keys.get(1), 3 * CHUNK_BYTES);
    Results results = rig.fetch(ClientRig.PEER, keys);

    rig.serve(channel, owner);

    assertThat(results.reasons()).containsExactly(null, NO_MEMORY, null);
    held.checkAndClose(owner);
    results.checkWhatCame(owner);
    end();
  }

  /** Memory that is being mapped is there without anybody's help: that is worth waiting for. */
  @Test
  void waitingForMemoryThatIsBeingMappedHasADeadline() {
    open(SMALL, 60_000);
    rig.threads.slow().pause();
    Results results = rig.fetch(10);
    rig.serve(channel, owner);
    assertThat(results.arrived()).isEqualTo(2);

    rig.advance(Duration.ofMillis(499));
    assertThat(results.reported()).isEqualTo(2);
    rig.advance(Duration.ofMillis(2));
    assertThat(results.reasons()).contains(NO_MEMORY);
    assertThat(results.isComplete()).isTrue();

    Results next = rig.fetch(10);
    rig.serve(channel, owner);
    rig.threads.slow().resume();
    rig.serve(channel, owner);
    assertThat(next.arrived()).isEqualTo(10);
    results.checkWhatCame(owner);
    next.checkAndClose(owner);
    end();
  }

  @Test
  void aBlockIsPutTogetherAcrossChunksWhateverTheSizeOfReads() {
    open(SMALL.withReadBytes(10_007), 60_000);
    Results held = rig.fetch(2);
    rig.serve(channel, owner);
    List<BlockKey> keys = rig.keys(4);
    owner.place(keys.get(0), 1_000_003, 64 << 10, 1);
    owner.place(keys.get(2), CHUNK_BYTES, CHUNK_BYTES, 2 * CHUNK_BYTES);
    Results results = rig.fetch(ClientRig.PEER, keys);

    rig.serve(channel, owner);

    assertThat(results.arrived()).isEqualTo(4);
    assertThat(rig.counters.value(Counter.BLOCKS_COPIED_OUT)).isEqualTo(4);
    results.checkAndClose(owner);
    held.checkAndClose(owner);
    end();
  }

  @Test
  void smallBlocksShareAChunkHereToo() {
    open(SMALL.withOverflow(8), 600);
    List<BlockKey> keys = rig.keys(2);
    keys.forEach(key -> owner.place(key, 60_000));
    Results held = rig.fetch(ClientRig.PEER, keys);
    rig.serve(channel, owner);
    Results results = rig.fetch(300);

    rig.serve(channel, owner);

    assertThat(results.arrived()).isEqualTo(300);
    assertThat(rig.counters.value(Counter.BLOCKS_COPIED_OUT)).isGreaterThan(280);
    assertThat(rig.overflow.chunksOut()).as("192 kB in chunks of 64 KiB").isLessThanOrEqualTo(4);
    results.checkAndClose(owner);
    held.checkAndClose(owner);
    end();
  }

  /** It is given up while some of it is being copied: that goes to memory nobody else has. */
  @Test
  void aBlockGivenUpKeepsItsMemoryUntilTheLastCopyHasEnded() {
    rig = new ClientRig(SMALL.withOverflow(8));
    owner = new Owner(6 * CHUNK_BYTES); // more than the pool
    channel = rig.connected(owner);
    rig.threads.copy().pause();
    Results results = rig.fetch(1);
    rig.answerRequests(channel, owner);
    while (!channel.reads().isEmpty()) {
      rig.complete(channel.reads().get(0));
      rig.settle();
    }
    rig.advance(Duration.ofMillis(501)); // no transit memory in time
    assertThat(results.reasons()).containsOnly(NO_MEMORY);
    assertThat(rig.overflow.chunksOut()).isEqualTo(6);

    rig.threads.copy().resume();
    rig.settle();
    rig.advance(Duration.ofSeconds(1));

    assertThat(rig.overflow.chunksOut()).isZero();
    end();
  }

  @Test
  void memoryThatIsNotUsedGoesBackToTheSystem() {
    open(SMALL, 60_000);
    Results results = rig.fetch(50);
    rig.serve(channel, owner);
    assertThat(rig.overflow.registeredBytes()).isGreaterThanOrEqualTo(48 * CHUNK_BYTES);
    results.checkAndClose(owner);

    rig.advance(Duration.ofSeconds(5));
    assertThat(rig.overflow.registeredBytes()).as("may be used again").isPositive();
    rig.advance(Duration.ofSeconds(7));

    assertThat(rig.overflow.registeredBytes()).isZero();
    end();
  }

  @Test
  void theMemoryOfABlockThatWasDroppedIsTakenBackAndCounted() {
    open(SMALL.withOverflow(4), 60_000);
    dropBlocks();
    for (int i = 0; i < 100 && rig.counters.value(Counter.BLOCKS_LOST) < 6; i++) {
      System.gc();
      rig.advance(Duration.ofMillis(100));
    }

    assertThat(rig.counters.value(Counter.BLOCKS_LOST)).isEqualTo(6);
    assertThat(rig.overflow.chunksOut()).isZero();
    end();
  }

  private void dropBlocks() {
    Results results = rig.fetch(6);
    rig.serve(channel, owner);
    assertThat(results.arrived()).isEqualTo(6);
  }

  @Test
  void heldBlocksOutliveTheClientAndThePool() {
    open(SMALL, 60_000);
    Results results = rig.fetch(6);
    rig.serve(channel, owner);
    ByteBuffer view = results.block(5).buffer();
    rig.fail(channel);
    rig.client.close();
    rig.settle();

    rig.overflow.close();

    assertThat(rig.overflow.registeredBytes()).isPositive();
    assertThat(view.get(0)).isEqualTo(owner.content(results.keys().get(5))[0]);
    results.checkAndClose(owner);
    assertThat(rig.overflow.registeredBytes()).isZero();
    rig.close();
  }

  /** Random sizes come, are kept for random times and closed in random order. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void theLimitHoldsWhateverComesAndHoweverSlowConsumersAre(long seed) {
    Random random = new Random(seed);
    int limit = 1 + random.nextInt(20);
    open(SMALL.withOverflow(limit), 0);
    List<Results> held = new ArrayList<>();
    long mostBytes = 0;
    for (int i = 0; i < 300; i++) {
      List<BlockKey> keys = rig.keys(1 + random.nextInt(12));
      keys.forEach(key -> owner.place(key, random.nextInt(random.nextBoolean() ? 2000 : 200_000)));
      held.add(rig.fetch(ClientRig.PEER, keys));
      rig.serve(channel, owner);
      assertThat(rig.overflow.registeredBytes()).isLessThanOrEqualTo((long) limit * CHUNK_BYTES);
      mostBytes = Math.max(mostBytes, rig.overflow.registeredBytes());
      while (random.nextInt(3) > 0 && !held.isEmpty()) {
        held.remove(random.nextInt(held.size())).checkWhatCame(owner);
      }
    }

    assertThat(mostBytes).as("it was used up").isEqualTo((long) limit * CHUNK_BYTES);
    held.forEach(results -> results.checkWhatCame(owner));
    rig.advance(Duration.ofSeconds(20));
    assertThat(rig.overflow.registeredBytes()).isZero();
    end();
  }
}
