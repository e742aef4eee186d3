package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.FILE_CHANGED;
import static io.rdmashuffle.transport.FallbackReason.OVERLOADED;
import static io.rdmashuffle.transport.FallbackReason.TRANSFER_FAILED;
import static io.rdmashuffle.transport.FallbackReason.UNKNOWN_BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One fetch over one connection: every kind of answer, right ones and wrong ones. */
final class FetchTest {
  private final ClientRig rig = new ClientRig();
  private final Owner owner = new Owner(6000);

  private void end(ScriptedReaderChannel channel) {
    rig.client.close();
    rig.settle();
    channel.finishClose();
    rig.settle();
    rig.close();
  }

  @Test
  void blocksArriveWithTheirBytes() {
    Results results = rig.fetch(10);
    ScriptedReaderChannel channel = rig.connect();

    rig.serve(channel, owner);

    assertThat(results.arrived()).isEqualTo(10);
    results.checkAndClose(owner);
    assertThat(rig.counters.value(Counter.BLOCKS_READ)).isEqualTo(10);
    assertThat(rig.counters.value(Counter.BYTES_READ)).isEqualTo(60_000);
    end(channel);
  }

  @Test
  void aSmallBlockArrivesInsideTheReply() {
    owner.answerWith(key -> new Reply.Inline(0, owner.content(key)));
    Results results = rig.fetch(3);
    ScriptedReaderChannel channel = rig.connect();

    rig.answerRequests(channel, owner);

    assertThat(results.block(0).source()).isEqualTo(Block.Source.INLINE);
    assertThat(rig.counters.value(Counter.BLOCKS_INLINE)).isEqualTo(3);
    assertThat(rig.counters.value(Counter.BYTES_INLINE)).isEqualTo(18_000);
    assertThat(channel.reads()).isEmpty();
    results.checkAndClose(owner);
    end(channel);
  }

  @Test
  void aStagedBlockIsCountedAsOne() {
    owner.answerWith(owner::staged);
    Results results = rig.fetch(2);
    ScriptedReaderChannel channel = rig.connect();

    rig.serve(channel, owner);

    assertThat(results.block(0).source()).isEqualTo(Block.Source.STAGED);
    assertThat(rig.counters.value(Counter.BLOCKS_STAGED)).isEqualTo(2);
    assertThat(rig.counters.value(Counter.BYTES_STAGED)).isEqualTo(12_000);
    results.checkAndClose(owner);
    end(channel);
  }

  @Test
  void emptyBlocksArriveWithoutAReadAndTheirLeaseGoesBack() {
    List<BlockKey> keys = rig.keys(3);
    owner.place(keys.get(0)); // no piece at all
    owner.place(keys.get(1), 0);
    owner.answerWith(key -> key.equals(keys.get(2)) ? new Reply.Inline(0, new byte[0]) : null);
    owner.place(keys.get(2));
    Results results = rig.fetch(ClientRig.PEER, keys);
    ScriptedReaderChannel channel = rig.connect();

    rig.answerRequests(channel, owner);

    assertThat(results.arrived()).isEqualTo(3);
    assertThat(results.block(1).bytes()).isZero();
    assertThat(results.block(0).buffer().remaining()).isZero();
    results.checkAndClose(owner);
    rig.advance(Duration.ofMillis(6));
    rig.serve(channel, owner);
    assertThat(owner.leases()).isZero();
    end(channel);
  }

  @Test
  void whatTheOwnerRefusesFallsBackWithItsReason() {
    List<BlockKey> keys = rig.keys(4);
    owner.answerWith(
        key ->
            switch (keys.indexOf(key)) {
              case 1 -> new Reply.NotByRdma(UNKNOWN_BLOCK);
              case 2 -> new Reply.NotByRdma(FILE_CHANGED);
              default -> null;
            });
    Results results = rig.fetch(ClientRig.PEER, keys);
    ScriptedReaderChannel channel = rig.connect();

    rig.serve(channel, owner);

    assertThat(results.reasons()).containsExactly(null, UNKNOWN_BLOCK, FILE_CHANGED, null);
    assertThat(rig.counters.fallbacks(UNKNOWN_BLOCK)).isEqualTo(1);
    results.checkWhatCame(owner);
    end(channel);
  }

  @Test
  void aBlockInSeveralPiecesIsPutTogether() {
    List<BlockKey> keys = rig.keys(2);
    owner.place(keys.get(0), 100, 0, 70_000, 1);
    owner.place(keys.get(1), 1, 2, 3);
    Results results = rig.fetch(ClientRig.PEER, keys);
    ScriptedReaderChannel channel = rig.connect();

    rig.serve(channel, owner);

    results.checkAndClose(owner);
    end(channel);
  }

  @Test
  void readsAreSplitAtChunkBordersAndAtTheirLargestSize() {
    ClientRig small = new ClientRig(ClientRig.Setup.standard().withReadBytes(20_000));
    List<BlockKey> keys = small.keys(3);
    owner.place(keys.get(0), 50_000);
    owner.place(keys.get(1), 50_000);
    owner.place(keys.get(2), 200_000);
    Results results = small.fetch(ClientRig.PEER, keys);
    ScriptedReaderChannel channel = small.connect();
    small.answerRequests(channel, owner);

    assertThat(channel.reads())
        .isNotEmpty()
        .allSatisfy(
            chain ->
                assertThat(chain.posted())
                    .allSatisfy(
                        read -> {
                          assertThat(read.bytes()).isLessThanOrEqualTo(20_000);
                          long first = read.localAddress() >> 16;
                          long last = (read.localAddress() + read.bytes() - 1) >> 16;
                          assertThat(last).isEqualTo(first);
                        }));
    small.serve(channel, owner);
    results.checkAndClose(owner);
    small.client.close();
    small.settle();
    channel.finishClose();
    small.close();
  }

  @Test
  void keysLeftOutOfAReplyAreAskedForAgain() {
    owner.answersPerReply(3);
    Results results = rig.fetch(10);
    ScriptedReaderChannel channel = rig.connect();

    rig.serve(channel, owner);

    assertThat(results.arrived()).isEqualTo(10);
    results.checkAndClose(owner);
    end(channel);
  }

  @Test
  void aFetchOfNothingReportsNothing() {
    Results results = rig.fetch(0);

    assertThat(results.reported()).isZero();
    assertThat(rig.discovery.count()).isZero();
    rig.close();
  }

  @Test
  void aFullQueueRefusesTheFetchOnADeliveryThread() {
    rig.loop.refuseOffers();
    rig.threads.delivery().pause();
    Results results = rig.fetch(3);

    assertThat(results.reported()).isZero();
    rig.threads.delivery().resume();
    rig.settle();
    assertThat(results.reasons()).containsOnly(OVERLOADED);
    assertThat(rig.counters.fallbacks(OVERLOADED)).isEqualTo(3);
    rig.close();
  }

  @Test
  void whatIsNotThereAtTheDeadlineFallsBackAndItsMemoryComesBackWithTheRead() {
    ScriptedReaderChannel channel = rig.connected(owner);
    Results results = rig.fetch(3);
    rig.answerRequests(channel, owner);
    assertThat(channel.reads()).hasSize(1);

    rig.advance(Duration.ofSeconds(30));

    assertThat(results.reasons()).containsOnly(TRANSFER_FAILED);
    assertThat(rig.chunksHeld()).isEqualTo(1);
    rig.serve(channel, owner);
    assertThat(rig.chunksHeld()).isZero();
    end(channel);
  }

  @Test
  void aBlockGivenUpHalfwayKeepsItsMemoryUntilTheReadsInFlightAreOver() {
    ClientRig narrow = new ClientRig(ClientRig.Setup.standard().withWindow(100_000));
    Owner large = new Owner(400_000);
    Results results = narrow.fetch(1);
    ScriptedReaderChannel channel = narrow.connect();
    narrow.answerRequests(channel, large);
    assertThat(channel.reads()).isNotEmpty();

    narrow.advance(Duration.ofSeconds(31));

    assertThat(results.reasons()).containsOnly(TRANSFER_FAILED);
    assertThat(narrow.pool.chunksOut()).as("the adapter may still write").isGreaterThan(6);
    narrow.serve(channel, large);
    assertThat(narrow.chunksHeld()).isZero();
    narrow.advance(Duration.ofMillis(6));
    narrow.serve(channel, large);
    assertThat(large.leases()).isZero();
    narrow.fail(channel);
    narrow.close();
  }

  @Test
  void anAnswerForTooManyKeysClosesTheChannel() {
    expectBug(
        new Reply.Located(
            0, List.of(new Reply.Inline(0, new byte[1]), new Reply.Inline(0, new byte[1]))));
  }

  @Test
  void anAnswerForNoKeyClosesTheChannel() {
    expectBug(new Reply.Located(0, List.of()));
  }

  @Test
  void aGrantWithoutALeaseClosesTheChannel() {
    expectBug(
        new Reply.Located(
            0, List.of(new Reply.Granted(0, false, List.of(new Reply.Piece(4096, 1, 10))))));
  }

  @Test
  void aPieceOfNegativeLengthClosesTheChannel() {
    expectBug(
        new Reply.Located(
            9, List.of(new Reply.Granted(0, false, List.of(new Reply.Piece(4096, 1, -1))))));
  }

  @Test
  void anAnswerOfAnotherKindClosesTheChannel() {
    expectBug(new Reply.Released());
  }

  private void expectBug(Reply reply) {
    Results results = rig.fetch(1);
    ScriptedReaderChannel channel = rig.connect();
    channel.requests().get(0).reply(reply);
    rig.settle();

    assertThat(channel.closeCause()).isNotNull();
    assertThat(channel.closeCause().kind()).isEqualTo(Kind.BUG);
    assertThat(channel.reads()).isEmpty();
    channel.finishClose();
    rig.settle();
    assertThat(results.reasons()).containsOnly(TRANSFER_FAILED);
    rig.close();
  }

  @Test
  void aListenerThatThrowsLosesOnlyItsOwnBlock() {
    List<BlockKey> keys = rig.keys(3);
    Results results =
        new Results(keys) {
          @Override
          public void onBlock(int index, Block block) {
            if (index == 1) {
              throw new IllegalStateException("test: the engine's listener is broken");
            }
            super.onBlock(index, block);
          }
        };
    rig.client.fetch(ClientRig.PEER, keys, results);
    ScriptedReaderChannel channel = rig.connect();

    rig.serve(channel, owner);

    assertThat(results.hasBlock(0)).isTrue();
    assertThat(results.hasBlock(2)).isTrue();
    results.checkWhatCame(owner);
    assertThat(rig.chunksHeld()).isZero();
    end(channel);
  }

  @Test
  void onlyLocatesAndReleasesAreSent() {
    Results results = rig.fetch(1);
    ScriptedReaderChannel channel = rig.connect();

    assertThat(channel.requests()).hasSize(1);
    Request.Locate locate = (Request.Locate) channel.requests().get(0).request();
    assertThat(locate.keys()).isEqualTo(results.keys());
    assertThat(locate.releases()).isEmpty();
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    end(channel);
  }

  @Test
  void afterAnErrorEachBlockIsReportedOnceAndTheNextFetchComesByRdma() {
    ScriptedReaderChannel channel = rig.connected(owner);
    Results located = rig.fetch(3);
    rig.answerRequests(channel, owner);
    Results asked = rig.fetch(2);

    rig.loop.recover(new OutOfMemoryError("test: Java heap space"));
    rig.settle();

    assertThat(located.reasons()).containsOnly(TRANSFER_FAILED);
    assertThat(asked.reasons()).containsOnly(TRANSFER_FAILED);
    channel.finishClose();
    rig.settle();
    assertThat(rig.chunksHeld()).isZero();
    Results next = rig.fetch(4);
    ScriptedReaderChannel again = rig.connect();
    rig.serve(again, owner);
    assertThat(next.arrived()).isEqualTo(4);
    next.checkAndClose(owner);
    end(again);
  }
}
