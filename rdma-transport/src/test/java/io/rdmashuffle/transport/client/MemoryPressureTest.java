package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.NO_MEMORY;
import static io.rdmashuffle.transport.FallbackReason.TOO_LARGE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Blocks when there is less registered memory than they need. */
final class MemoryPressureTest extends SmallMemory {
  @Test
  void blocksStayInRegisteredMemoryWhileThereIsEnough() {
    open(Setup.standard(), 10_000);
    Results results = rig.fetch(20);
    rig.serve(channel, owner);

    assertThat(rig.counters.value(Counter.BLOCKS_COPIED_OUT)).isZero();
    assertThat(rig.chunksHeld()).as("200 kB in chunks of 64 KiB").isEqualTo(4);
    results.checkAndClose(owner);
    assertThat(rig.chunksHeld()).isZero();
    end();
  }

  @Test
  void blocksAreCopiedOutWhenTheRestOfThePoolIsTaken() {
    open(SMALL, 60_000);
    Results results = rig.fetch(10);

    rig.serve(channel, owner);

    assertThat(results.arrived()).isEqualTo(10);
    assertThat(rig.counters.value(Counter.BLOCKS_COPIED_OUT)).isEqualTo(8);
    assertThat(rig.counters.value(Counter.BLOCKS_READ)).isEqualTo(11);
    assertThat(rig.chunksHeld()).as("only what consumers hold").isEqualTo(2);
    results.checkAndClose(owner);
    end();
  }

  /**
   * A task that joins opens two readers and drains one after the other: what the second one holds
   * must not keep the first one from making progress, not even until a time-out.
   */
  @Test
  void twoReadersDrainedOneAfterTheOtherNeverWait() {
    open(SMALL, 50_000);
    Results second = rig.fetch(50); // fills the pool and is not consumed
    rig.serve(channel, owner);
    long startNs = rig.loop.nowNs();

    for (int i = 0; i < 30; i++) {
      Results first = rig.fetch(10);
      rig.serve(channel, owner);
      assertThat(first.arrived()).isEqualTo(10);
      first.checkAndClose(owner);
    }

    assertThat(rig.loop.nowNs()).as("no time passed").isEqualTo(startNs);
    assertThat(second.arrived()).isEqualTo(50);
    second.checkAndClose(owner);
    assertThat(rig.chunksHeld()).isZero();
    end();
  }

  @Test
  void aBlockLargerThanThePoolComesInPieces() {
    open(SMALL, 3_000_000);
    Results results = rig.fetch(2);

    rig.serve(channel, owner);

    assertThat(rig.pool.chunksOut()).isLessThanOrEqualTo(2);
    assertThat(results.block(0).buffer().remaining()).isEqualTo(3_000_000);
    results.checkAndClose(owner);
    assertThat(rig.counters.value(Counter.BLOCKS_COPIED_OUT)).isEqualTo(3);
    end();
  }

  @Test
  void aBlockTooLargeToPutTogetherFallsBackAndTheOthersGoOn() {
    open(SMALL, 100);
    List<BlockKey> keys = rig.keys(3);
    List<Reply.Piece> huge =
        Collections.nCopies(3, new Reply.Piece(0x9000_0000_0000L, 1, 400 << 20));
    owner.answerWith(key -> key.equals(keys.get(1)) ? new Reply.Granted(0, false, huge) : null);
    Results results = rig.fetch(ClientRig.PEER, keys);

    rig.serve(channel, owner);

    assertThat(results.reasons()).containsExactly(null, TOO_LARGE, null);
    rig.advance(Duration.ofMillis(6));
    rig.serve(channel, owner);
    assertThat(owner.leases()).isZero();
    results.checkWhatCame(owner);
    end();
  }

  @Test
  void aReadWaitsForTransitMemoryOnlyUntilACopyIsDone() {
    open(SMALL, 60_000);
    rig.threads.copy().pause();
    Results results = rig.fetch(10);
    rig.answerRequests(channel, owner);
    while (!channel.reads().isEmpty()) {
      rig.complete(channel.reads().get(0));
      rig.settle();
    }
    assertThat(results.arrived()).isEqualTo(2);

    rig.threads.copy().resume();
    rig.serve(channel, owner);

    assertThat(results.arrived()).isEqualTo(10);
    results.checkAndClose(owner);
    end();
  }

  /** The only transit chunk never returns to the pool: it is filled again where it is. */
  @Test
  void oneTransitChunkIsEnough() {
    open(Setup.standard().withChunks(2, 1), 40_000);
    rig.threads.copy().pause();
    Results results = rig.fetch(10);
    rig.answerRequests(channel, owner);
    long startNs = rig.loop.nowNs();

    while (!results.isComplete()) {
      assertThat(channel.reads()).as("something is under way").isNotEmpty();
      while (!channel.reads().isEmpty()) {
        rig.complete(channel.reads().get(0));
        rig.settle();
      }
      rig.threads.copy().resume();
      rig.settle();
      rig.threads.copy().pause();
    }

    assertThat(rig.loop.nowNs()).isEqualTo(startNs);
    assertThat(results.arrived()).isEqualTo(10);
    results.checkAndClose(owner);
    rig.threads.copy().resume();
    end();
  }

  @Test
  void waitingForTransitMemoryHasADeadline() {
    open(SMALL, 60_000);
    rig.threads.copy().pause();
    Results results = rig.fetch(10);
    Results unlocated = rig.fetch(300);
    rig.answerRequests(channel, owner);
    while (!channel.reads().isEmpty()) {
      rig.complete(channel.reads().get(0));
      rig.settle();
    }

    rig.advance(Duration.ofMillis(499));
    assertThat(results.reported()).isEqualTo(2);
    rig.advance(Duration.ofMillis(2));

    assertThat(results.reasons()).contains(NO_MEMORY);
    assertThat(results.reported()).as("all but those being copied").isEqualTo(8);
    rig.threads.copy().resume();
    rig.serve(channel, owner);
    assertThat(results.isComplete()).isTrue();
    assertThat(unlocated.isComplete()).isTrue();
    results.checkWhatCame(owner);
    unlocated.checkWhatCame(owner);
    assertThat(rig.chunksHeld()).isZero();
    end();
  }

  @Test
  void severalConnectionsShareScarceTransitMemory() {
    rig = new ClientRig(SMALL);
    owner = new Owner(60_000);
    List<ScriptedReaderChannel> channels = new ArrayList<>();
    List<Results> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      all.add(rig.fetch(new Peer("p" + i, "h" + i, 1), rig.keys(20)));
      channels.add(rig.connect());
    }
    channels.forEach(channel -> rig.answerRequests(channel, owner));

    for (int round = 0; round < 200; round++) {
      for (ScriptedReaderChannel channel : channels) {
        channel.reads().stream().limit(1).forEach(rig::complete);
      }
      rig.settle();
    }

    assertThat(all).allSatisfy(results -> assertThat(results.arrived()).isEqualTo(20));
    all.forEach(results -> results.checkAndClose(owner));
    assertThat(rig.chunksHeld()).isZero();
    channels.forEach(rig::fail);
    rig.close();
  }

  @Test
  void smallBlocksShareAChunkAndItReturnsWithTheLastOfThem() {
    open(Setup.standard(), 600);
    Results results = rig.fetch(100);
    rig.serve(channel, owner);

    assertThat(rig.chunksHeld()).isEqualTo(1);
    for (int i = 1; i < 100; i++) {
      results.block(i).close();
    }
    assertThat(rig.chunksHeld()).isEqualTo(1);
    assertThat(Results.bytes(results.block(0))).isEqualTo(owner.content(results.keys().get(0)));
    results.block(0).close();
    assertThat(rig.chunksHeld()).isZero();
    end();
  }

  @Test
  void consumersThatKeepUpUseOneChunkAgainAndAgain() {
    open(Setup.standard(), 30_000);

    for (int i = 0; i < 50; i++) {
      Results results = rig.fetch(2);
      rig.serve(channel, owner);
      results.checkAndClose(owner);
      assertThat(rig.pool.chunksOut()).isLessThanOrEqualTo(1);
    }

    assertThat(rig.counters.value(Counter.BLOCKS_COPIED_OUT)).isZero();
    end();
  }

  @Test
  void memoryNotUsedForLongIsGivenBackButForTheReserve() {
    open(Setup.standard().withChunks(192, 4), 50_000);
    Results results = rig.fetch(150);
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    long mostBytes = rig.pool.registeredBytes();
    rig.fail(channel);

    for (int minute = 0; minute < 6; minute++) {
      rig.advance(Duration.ofMinutes(1));
    }

    assertThat(rig.pool.registeredBytes()).isLessThan(mostBytes);
    assertThat(rig.loop.pendingTimers()).as("nothing to look after").isZero();
    rig.close();
  }

  @Test
  void whereNothingCanBeRegisteredNobodyWaits() {
    rig = new ClientRig(Setup.standard().withBudget(4096));
    owner = new Owner(100);
    Results results = rig.fetch(5);
    channel = rig.connect();
    long startNs = rig.loop.nowNs();

    rig.serve(channel, owner);

    assertThat(results.reasons()).containsOnly(NO_MEMORY);
    assertThat(rig.loop.nowNs()).isEqualTo(startNs);
    end();
  }

  @Test
  void blocksReadWhileThePoolStillGrowsNeedNotWaitForAllOfIt() {
    rig = new ClientRig(Setup.standard().withChunks(200, 70));
    owner = new Owner(60_000);
    Results results = rig.fetch(20);
    channel = rig.connect();

    rig.serve(channel, owner);

    assertThat(results.arrived()).isEqualTo(20);
    results.checkAndClose(owner);
    end();
  }
}
