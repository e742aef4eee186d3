package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.testing.LoggedLines;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The ways a block can go, one at a time. */
final class RdmaBlockServerTest {
  private static final int PAGE = ServerRig.PAGE;
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

  @Test
  void aLargeBlockIsGrantedOutOfItsOwnPages() throws IOException {
    OutputFile file = rig.file(100 * PAGE);
    BlockKey key = rig.block(file, 5 * PAGE + 100, 3 * PAGE);

    Reply.Located located = rig.locate(channel, key);

    Reply.Granted granted = (Reply.Granted) located.answers().get(0);
    assertThat(granted.staged()).isFalse();
    assertThat(granted.pieces()).hasSize(1);
    assertThat(rig.read(granted)).isEqualTo(ServerRig.bytes(file, 5 * PAGE + 100, 3 * PAGE));
    assertThat(rig.registeredBytes()).isLessThanOrEqualTo(2 * 4 * PAGE);
    assertThat(rig.count(Counter.LEASES_LIVE)).isEqualTo(1);
    assertThat(rig.count(Counter.OWNER_BLOCKS_WINDOW)).isEqualTo(1);
  }

  @Test
  void aRegisteredBlockIsAnsweredAtOnceWithoutAnotherThread() throws IOException {
    OutputFile file = rig.file(100 * PAGE);
    BlockKey key = rig.block(file, 0, 4 * PAGE);
    rig.fetch(channel, key);
    rig.loop.runAll();

    int id = channel.deliver(new Request.Locate(List.of(key), ServerRig.NO_RELEASES));

    assertThat(channel.replyTo(id)).isInstanceOf(Reply.Located.class);
    assertThat(rig.pool.waiting()).isZero();
    assertThat(rig.loop.pendingTasks()).isZero();
    assertThat(rig.loop.pendingTimers()).isZero();
  }

  @Test
  void aTinyBlockTravelsInTheReplyWithoutALease() throws IOException {
    OutputFile file = rig.file(PAGE);
    Reply.Located located = rig.locate(channel, rig.block(file, 10, 512));

    assertThat(located.lease()).isZero();
    assertThat(((Reply.Inline) located.answers().get(0)).bytes())
        .isEqualTo(ServerRig.bytes(file, 10, 512));
    assertThat(rig.registeredBytes()).isZero();
  }

  @Test
  void aSmallBlockIsStaged() throws IOException {
    OutputFile file = rig.file(10 * PAGE);
    Reply.Located located = rig.locate(channel, rig.block(file, 10, 513));

    Reply.Granted granted = (Reply.Granted) located.answers().get(0);
    assertThat(granted.staged()).isTrue();
    assertThat(rig.read(granted)).isEqualTo(ServerRig.bytes(file, 10, 513));
    assertThat(rig.count(Counter.REGISTRATIONS)).isZero();
    assertThat(rig.count(Counter.OWNER_BLOCKS_STAGED)).isEqualTo(1);
  }

  @Test
  void anEmptyBlockNeedsNoFile() {
    OutputFile missing = new OutputFile(directory.resolve("none"), 0);
    Reply.Answer answer = rig.locateOne(channel, rig.block(missing, 0, 0));
    assertThat(((Reply.Inline) answer).bytes()).isEmpty();
  }

  @Test
  void aBlockAcrossSlotsIsSeveralPiecesAndTheRightBytes() throws IOException {
    OutputFile file = rig.file(64 * PAGE);
    long offset = 10 * PAGE + 7;
    long bytes = 40 * PAGE;
    Reply.Granted granted = (Reply.Granted) rig.locateOne(channel, rig.block(file, offset, bytes));

    assertThat(granted.pieces()).hasSize(4);
    assertThat(rig.read(granted)).isEqualTo(ServerRig.bytes(file, offset, bytes));
  }

  @Test
  void theEndOfAFileThatEndsWithinAPageIsServed() throws IOException {
    OutputFile file = rig.file(20 * PAGE + 123);
    BlockKey key = rig.block(file, 10 * PAGE, 10 * PAGE + 123);
    assertThat(rig.read(rig.locateOne(channel, key)))
        .isEqualTo(ServerRig.bytes(file, 10 * PAGE, 10 * PAGE + 123));
  }

  @Test
  void keysAreAnsweredInTheirOrder() throws IOException {
    OutputFile file = rig.file(100 * PAGE);
    BlockKey unknown = rig.newKey();
    BlockKey large = rig.block(file, 0, 4 * PAGE);
    BlockKey small = rig.block(file, 50 * PAGE, 1000);
    BlockKey tiny = rig.block(file, 70 * PAGE, 100);

    Reply.Located located = rig.locate(channel, tiny, unknown, large, small);

    assertThat(located.answers()).hasSize(4);
    assertThat(rig.read(located.answers().get(0))).isEqualTo(ServerRig.bytes(file, 70 * PAGE, 100));
    assertThat(located.answers().get(1))
        .isEqualTo(new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK));
    assertThat(rig.read(located.answers().get(2))).isEqualTo(ServerRig.bytes(file, 0, 4 * PAGE));
    assertThat(rig.read(located.answers().get(3)))
        .isEqualTo(ServerRig.bytes(file, 50 * PAGE, 1000));
  }

  @Test
  void aKeyKnownOnlyOnDiskIsLoaded() throws IOException {
    OutputFile file = rig.file(10 * PAGE);
    BlockKey key = rig.newKey();
    rig.catalog().putOnDisk(key, new BlockLocation(file, PAGE, 3 * PAGE));
    assertThat(rig.read(rig.locateOne(channel, key)))
        .isEqualTo(ServerRig.bytes(file, PAGE, 3 * PAGE));
  }

  @Test
  void aFailingCatalogCostsOnlyItsBlocks() {
    rig.catalog().failFind(new IllegalStateException("broken index"));
    rig.catalog().failLoad(new IOException("broken index"));
    assertThat(rig.locateOne(channel, rig.newKey()))
        .isEqualTo(new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK));
    assertThat(channel.closeCause()).isNull();
  }

  @Test
  void keysThatNoCatalogCanLookUpAreLoggedInOneLineAMinute() {
    rig.catalog().failLoad(new IOException("broken index"));
    try (LoggedLines logged = new LoggedLines()) {
      for (int i = 0; i < 40; i++) {
        BlockKey[] madeUp = new BlockKey[WireLimits.KEYS_PER_LOCATE];
        Arrays.setAll(madeUp, k -> rig.newKey());
        rig.locate(channel, madeUp);
      }
      assertThat(logged.with("")).hasSize(1);
      rig.advance(Duration.ofMinutes(1));
      rig.locate(channel, rig.newKey());
      assertThat(logged.with("cannot be looked up")).hasSize(2);
      assertThat(logged.with("(10239 more like it were not logged)")).hasSize(1);
    }
  }

  @Test
  void releasesRideOnTheNextLocate() throws IOException {
    OutputFile file = rig.file(10 * PAGE);
    BlockKey key = rig.block(file, 0, 4 * PAGE);
    long lease = rig.locate(channel, key).lease();
    channel.deliver(new Request.Locate(List.of(key), new long[] {lease}));
    rig.run();
    assertThat(rig.count(Counter.LEASES_LIVE)).isEqualTo(1);
  }

  @Test
  void anUnknownOrRepeatedReleaseIsCountedAndIgnored() throws IOException {
    OutputFile file = rig.file(10 * PAGE);
    long lease = rig.locate(channel, rig.block(file, 0, 4 * PAGE)).lease();
    rig.release(channel, lease, lease, 4711);
    assertThat(rig.count(Counter.LEASES_UNKNOWN)).isEqualTo(2);
    assertThat(rig.count(Counter.LEASES_LIVE)).isZero();
  }

  @Test
  void aSessionCannotEndTheLeaseOfAnother() throws IOException {
    OutputFile file = rig.file(10 * PAGE);
    long lease = rig.locate(channel, rig.block(file, 0, 4 * PAGE)).lease();
    ScriptedOwnerChannel other = rig.connect();
    rig.release(other, lease);
    assertThat(rig.count(Counter.LEASES_LIVE)).isEqualTo(1);
    rig.breakOff(other);
  }

  @Test
  void leasesEndWithTheirSession() throws IOException {
    OutputFile file = rig.file(100 * PAGE);
    ScriptedOwnerChannel other = rig.connect();
    rig.locate(other, rig.block(file, 0, 4 * PAGE), rig.block(file, 90 * PAGE, 1000));
    assertThat(rig.count(Counter.LEASES_LIVE)).isEqualTo(1);
    rig.breakOff(other);
    assertThat(rig.count(Counter.LEASES_LIVE)).isZero();
  }
}
