package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.testing.fake.Errno;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies in registered memory: bounded, shared in turn, never reused too early. */
final class StagingTest {
  private static final int CHUNK = 128 << 10;
  @TempDir private Path directory;

  /** A slab of four chunks, of two, of one: tried one after the other. */
  private static final int SLAB_SIZES = 3;

  private ServerRig rig;
  private ScriptedOwnerChannel first;
  private ScriptedOwnerChannel second;

  @BeforeEach
  void open() throws IOException {
    ServerSettings settings =
        new ServerSettings(
            512, 1 << 20, 1 << 20, 4 * CHUNK, Duration.ofSeconds(3), Duration.ofSeconds(5));
    rig = new ServerRig(directory, settings, ServerRig.UNLIMITED);
    rig.fabric.faults().refuseFiles((path, mode) -> true);
    first = rig.connect();
    second = rig.connect();
  }

  @AfterEach
  void close() {
    rig.breakOff(first);
    rig.breakOff(second);
    rig.close();
  }

  private int ask(ScriptedOwnerChannel channel, BlockKey... keys) {
    int id = channel.deliver(new Request.Locate(List.of(keys), ServerRig.NO_RELEASES));
    rig.run();
    return id;
  }

  private static boolean isStaged(Reply reply) {
    return ((Reply.Located) reply).answers().get(0) instanceof Reply.Granted g && g.staged();
  }

  @Test
  void blocksOfOneRequestShareAChunkAndALease() throws IOException {
    OutputFile file = rig.file(100_000);
    OutputFile other = rig.file(100_000);
    BlockKey[] keys = new BlockKey[20];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = rig.block(i % 2 == 0 ? file : other, i * 3000L, 1000 + i);
    }
    Reply.Located located = rig.locate(first, keys);
    for (int i = 0; i < keys.length; i++) {
      assertThat(rig.read(located.answers().get(i)))
          .isEqualTo(ServerRig.bytes(i % 2 == 0 ? file : other, i * 3000L, 1000 + i));
    }
    long distinctKeys =
        located.answers().stream()
            .map(a -> ((Reply.Granted) a).pieces().get(0).address() / CHUNK)
            .distinct()
            .count();
    assertThat(distinctKeys).isLessThanOrEqualTo(2); // one chunk, wherever it begins
    rig.release(first, located.lease());
  }

  @Test
  void aBlockLargerThanAChunkIsOnePieceWhereChunksLieSideBySide() throws IOException {
    OutputFile file = rig.file(2 * CHUNK);
    Reply.Located located = rig.locate(first, rig.block(file, 5, 2 * CHUNK - 5));
    assertThat(((Reply.Granted) located.answers().get(0)).pieces()).hasSize(1);
    assertThat(rig.read(located.answers().get(0)))
        .isEqualTo(ServerRig.bytes(file, 5, 2 * CHUNK - 5));
  }

  @Test
  void aBlockLargerThanAChunkIsSeveralPiecesWhereChunksLieApart() throws IOException {
    OutputFile file = rig.file(2 * CHUNK);
    BlockKey small = rig.block(file, 0, 1000);
    rig.locate(first, small);
    long between = rig.locate(first, small).lease();
    rig.locate(first, small);
    rig.release(first, between); // the second chunk and the fourth are free

    Reply.Located located = rig.locate(second, rig.block(file, 5, 2 * CHUNK - 5));

    assertThat(((Reply.Granted) located.answers().get(0)).pieces()).hasSize(2);
    assertThat(rig.read(located.answers().get(0)))
        .isEqualTo(ServerRig.bytes(file, 5, 2 * CHUNK - 5));
  }

  @Test
  void whatFindsNoRoomBesideOthersOfItsRequestIsLeftOutOfTheReply() throws IOException {
    OutputFile file = rig.file(4 * 100_000);
    BlockKey[] keys = new BlockKey[3]; // each takes a chunk, and a request may have two
    for (int i = 0; i < keys.length; i++) {
      keys[i] = rig.block(file, i * 100_000L, 100_000);
    }

    Reply.Located located = rig.locate(first, keys);

    assertThat(located.answers()).hasSize(2).allMatch(a -> ((Reply.Granted) a).staged());
    rig.release(first, located.lease());
    located = rig.locate(first, keys[2]);
    assertThat(rig.read(located.answers().get(0)))
        .isEqualTo(ServerRig.bytes(file, 200_000, 100_000));
    rig.release(first, located.lease());
  }

  @Test
  void aBlockOverHalfOfTheMemoryIsRefusedAtOnce() throws IOException {
    OutputFile file = rig.file(2 * CHUNK + 1);
    assertThat(rig.locateOne(first, rig.block(file, 0, 2 * CHUNK + 1)))
        .isEqualTo(new Reply.NotByRdma(FallbackReason.OWNER_NO_MEMORY));
  }

  @Test
  void whoFindsNoMemoryWaitsForOthersToReleaseTheirs() throws IOException {
    OutputFile file = rig.file(2 * CHUNK);
    BlockKey half = rig.block(file, 0, 2 * CHUNK);
    long lease1 = rig.locate(first, half).lease();
    rig.locate(first, half);
    int waiting = ask(second, half);
    assertThat(second.replyTo(waiting)).isNull();

    rig.release(first, lease1);

    assertThat(isStaged(second.replyTo(waiting))).isTrue();
    assertThat(rig.read(((Reply.Located) second.replyTo(waiting)).answers().get(0)))
        .isEqualTo(ServerRig.bytes(file, 0, 2 * CHUNK));
  }

  @Test
  void waitingHasAnEnd() throws IOException {
    BlockKey half = rig.block(rig.file(2 * CHUNK), 0, 2 * CHUNK);
    rig.locate(first, half);
    rig.locate(first, half);
    int waiting = ask(second, half);
    rig.advance(Duration.ofMillis(740));
    assertThat(second.replyTo(waiting)).isNull();
    rig.advance(Duration.ofMillis(60));
    assertThat(((Reply.Located) second.replyTo(waiting)).answers())
        .containsExactly(new Reply.NotByRdma(FallbackReason.OWNER_NO_MEMORY));
    assertThat(rig.loop.pendingTimers()).isZero();
  }

  @Test
  void sessionsTakeTurnsForMemory() throws IOException {
    BlockKey half = rig.block(rig.file(2 * CHUNK), 0, 2 * CHUNK);
    Reply.Located held = rig.locate(first, half);
    Reply.Located alsoHeld = rig.locate(first, half);
    int greedy1 = ask(first, half);
    int greedy2 = ask(first, half);
    int greedy3 = ask(first, half);
    int modest = ask(second, half);

    rig.release(first, held.lease());
    rig.release(first, alsoHeld.lease());
    assertThat(isStaged(first.replyTo(greedy1))).isTrue();
    assertThat(isStaged(first.replyTo(greedy2))).isTrue();
    rig.release(first, ((Reply.Located) first.replyTo(greedy1)).lease());
    assertThat(isStaged(second.replyTo(modest))).isTrue();
    assertThat(first.replyTo(greedy3)).isNull();
  }

  @Test
  void aSessionThatEndsWhileItWaitsGivesBackWhatItHas() throws IOException {
    OutputFile file = rig.file(2 * CHUNK);
    BlockKey half = rig.block(file, 0, 2 * CHUNK);
    BlockKey quarter = rig.block(file, 0, CHUNK);
    rig.locate(first, half);
    rig.locate(first, quarter);
    ScriptedOwnerChannel third = rig.connect();
    ask(third, half); // has one chunk, waits for another
    int next = ask(second, quarter);
    assertThat(second.replyTo(next)).isNull();

    rig.breakOff(third);

    assertThat(isStaged(second.replyTo(next))).isTrue();
  }

  @Test
  void memoryIsNotReusedWhileACopyIntoItGoesOn() throws IOException {
    OutputFile file = rig.file(2 * CHUNK);
    BlockKey half = rig.block(file, 0, 2 * CHUNK);
    rig.release(first, rig.locate(first, half).lease());
    rig.locate(first, half);
    ScriptedOwnerChannel third = rig.connect();
    third.deliver(new Request.Locate(List.of(half), ServerRig.NO_RELEASES));
    rig.loop.runAll(); // the copy is in the pool, not run
    assertThat(rig.pool.waiting()).isPositive();
    third.fail(new TransportException(TransportException.Kind.PEER_LOST, "gone"));
    third.finishClose();
    int next = second.deliver(new Request.Locate(List.of(half), ServerRig.NO_RELEASES));
    rig.loop.runAll();
    assertThat(second.replyTo(next)).isNull();

    rig.run();

    assertThat(rig.read(((Reply.Located) second.replyTo(next)).answers().get(0)))
        .isEqualTo(ServerRig.bytes(file, 0, 2 * CHUNK));
  }

  @Test
  void withoutAnyMemoryBlocksFallBackSoonAndLaterItIsTriedAgain() throws IOException {
    BlockKey key = rig.block(rig.file(10_000), 0, 10_000);
    rig.fabric.faults().refuseRegistrations(SLAB_SIZES, Errno.ENOMEM);
    int id = ask(first, key);
    rig.advance(Duration.ofMillis(30));
    assertThat(((Reply.Located) first.replyTo(id)).answers())
        .containsExactly(new Reply.NotByRdma(FallbackReason.OWNER_NO_MEMORY));

    rig.advance(Duration.ofSeconds(2));
    assertThat(isStaged(first.replyTo(ask(first, key)))).isTrue();
  }

  @Test
  void tinyBlocksTravelInTheReplyEvenWithoutMemory() throws IOException {
    OutputFile file = rig.file(10_000);
    rig.fabric.faults().refuseRegistrations(SLAB_SIZES, Errno.ENOMEM);
    int id = ask(first, rig.block(file, 0, 100), rig.block(file, 0, 10_000));
    rig.advance(Duration.ofMillis(30));
    List<Reply.Answer> answers = ((Reply.Located) first.replyTo(id)).answers();
    assertThat(answers.get(0)).isInstanceOf(Reply.Inline.class);
    assertThat(answers.get(1)).isEqualTo(new Reply.NotByRdma(FallbackReason.OWNER_NO_MEMORY));
  }
}
