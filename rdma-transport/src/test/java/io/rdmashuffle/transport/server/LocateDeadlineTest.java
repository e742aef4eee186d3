package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireSizes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A LOCATE is answered in time and within a frame, whatever the disk does. */
final class LocateDeadlineTest {
  private static final int PAGE = ServerRig.PAGE;
  private static final Reply.NotByRdma LATE = new Reply.NotByRdma(FallbackReason.OVERLOADED);
  @TempDir private Path directory;
  private ServerRig rig;
  private ScriptedOwnerChannel channel;

  @BeforeEach
  void open() throws IOException {
    rig = new ServerRig(directory, ServerRig.settings(), ServerRig.UNLIMITED);
    channel = rig.connect();
  }

  @AfterEach
  void close() {
    rig.breakOff(channel);
    rig.close();
  }

  private List<Reply.Answer> answersAfterTheDeadline(BlockKey... keys) {
    int id = channel.deliver(new Request.Locate(List.of(keys), ServerRig.NO_RELEASES));
    rig.loop.advance(Duration.ofMillis(2999)); // the pool does nothing
    assertThat(channel.replyTo(id)).isNull();
    rig.loop.advance(Duration.ofMillis(1));
    return ((Reply.Located) channel.replyTo(id)).answers();
  }

  @Test
  void whatIsNotRegisteredInTimeFallsBackAndTheRestIsGranted() throws IOException {
    OutputFile file = rig.file(64 * PAGE);
    BlockKey ready = rig.block(file, 0, 4 * PAGE);
    rig.fetch(channel, ready);
    BlockKey late = rig.block(file, 40 * PAGE, 4 * PAGE);

    List<Reply.Answer> answers = answersAfterTheDeadline(late, ready);

    assertThat(answers.get(0)).isEqualTo(LATE);
    assertThat(rig.read(answers.get(1))).isEqualTo(ServerRig.bytes(file, 0, 4 * PAGE));
    rig.run(); // the registration ends after all, for whoever asks next
    assertThat(rig.fetch(channel, late)).isEqualTo(ServerRig.bytes(file, 40 * PAGE, 4 * PAGE));
    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(2);
  }

  @Test
  void aSlowIndexHoldsUpOnlyItsOwnBlocks() throws IOException {
    OutputFile file = rig.file(64 * PAGE);
    BlockKey ready = rig.block(file, 0, 4 * PAGE);
    rig.fetch(channel, ready);
    BlockKey late = rig.newKey();
    rig.catalog().putOnDisk(late, new BlockLocation(file, 0, PAGE));

    List<Reply.Answer> answers = answersAfterTheDeadline(late, ready);

    assertThat(answers.get(0)).isEqualTo(LATE);
    assertThat(answers.get(1)).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void aCopyThatIsLateIsNeverGranted() throws IOException {
    OutputFile file = rig.file(64 * PAGE);
    rig.fetch(channel, rig.block(file, 0, 1000));
    List<Reply.Answer> answers = answersAfterTheDeadline(rig.block(file, 20 * PAGE, 1000));
    assertThat(answers).containsExactly(LATE);
    rig.run();
    assertThat(rig.count(Counter.LEASES_LIVE)).isZero();
  }

  @Test
  void evenABrokenCatalogIsAnsweredFor() throws IOException {
    BlockKey key = rig.block(rig.file(PAGE), 0, PAGE);
    rig.catalog().breakFind(new AssertionError("broken"));
    assertThatThrownBy(
            () -> channel.deliver(new Request.Locate(List.of(key), ServerRig.NO_RELEASES)))
        .hasMessage("broken");
    rig.catalog().breakFind(null);

    rig.advance(Duration.ofSeconds(3));

    assertThat(((Reply.Located) channel.replyTo(1)).answers()).containsExactly(LATE);
    assertThat(rig.locateOne(channel, key)).isInstanceOf(Reply.Granted.class);
  }

  @Test
  void manyManyPiecesAreAnsweredInSeveralRounds() throws IOException {
    OutputFile file = rig.file(160 * PAGE);
    BlockKey[] keys = new BlockKey[100];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = rig.block(file, i, 150 * PAGE); // ten windows each
    }

    Reply.Located located = rig.locate(channel, keys);

    int size = located.answers().stream().mapToInt(WireSizes::atMostBytes).sum();
    assertThat(size).isLessThanOrEqualTo(WireSizes.ANSWERS_BYTES);
    assertThat(located.answers()).hasSizeBetween(20, 99);
    assertThat(located.answers()).allSatisfy(a -> assertThat(a).isInstanceOf(Reply.Granted.class));
    rig.release(channel, located.lease());
  }

  @Test
  void tinyBlocksLeaveRoomForAllOtherAnswers() throws IOException {
    BlockKey[] keys = new BlockKey[256];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = rig.block(rig.file(512), 0, 512);
    }

    Reply.Located located = rig.locate(channel, keys);

    assertThat(located.answers()).hasSize(256);
    long inline = located.answers().stream().filter(Reply.Inline.class::isInstance).count();
    assertThat(inline).isBetween(4L, 10L);
    assertThat(located.answers()).noneMatch(Reply.NotByRdma.class::isInstance);
    rig.release(channel, located.lease());
  }

  @Test
  void aSessionWithTooManyJobsIsRefusedMore() throws IOException {
    BlockKey[] keys = new BlockKey[256];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = rig.newKey();
    }
    // 16 jobs each, none is run
    int last = 0;
    for (int i = 0; i < 80; i++) {
      last = channel.deliver(new Request.Locate(List.of(keys), ServerRig.NO_RELEASES));
    }
    assertThat(((Reply.Located) channel.replyTo(last)).answers())
        .hasSize(keys.length)
        .allSatisfy(a -> assertThat(a).isEqualTo(LATE));
  }
}
