package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.testing.fake.Resource;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files, domains and servers that go away. */
final class ForgetTest {
  private static final int PAGE = ServerRig.PAGE;
  @TempDir private Path directory;
  private ServerRig rig;
  private ScriptedOwnerChannel channel;
  private boolean broken;

  @BeforeEach
  void open() throws IOException {
    rig = new ServerRig(directory, ServerRig.settings(), ServerRig.UNLIMITED);
    channel = rig.connect();
  }

  @AfterEach
  void close() {
    if (!broken) {
      rig.breakOff(channel);
    }
    rig.close();
  }

  private CompletableFuture<Void> forget(OutputFile file) {
    CompletableFuture<Void> gone = rig.server.forget(List.of(file));
    rig.loop.runAll();
    return gone;
  }

  private void finishClosing() {
    channel.finishClose();
    broken = true;
    rig.run();
  }

  @Test
  void windowsWithoutLeasesGoAtOnce() throws IOException {
    OutputFile file = rig.file(40 * PAGE);
    rig.fetch(channel, rig.block(file, 0, 40 * PAGE));
    assertThat(rig.registeredBytes()).isPositive();

    CompletableFuture<Void> gone = forget(file);
    rig.run();

    assertThat(gone).isCompleted();
    assertThat(rig.registeredBytes()).isZero();
    assertThat(rig.fabric.openCount(Resource.MAPPING)).isEqualTo(1); // the reader's
  }

  @Test
  void nothingIsGrantedOutOfAForgottenFile() throws IOException {
    OutputFile file = rig.file(40 * PAGE);
    BlockKey key = rig.block(file, 0, 4 * PAGE);
    BlockKey small = rig.block(file, 30 * PAGE, 1000);
    rig.fetch(channel, key);
    CompletableFuture<Void> gone = forget(file);
    rig.run();
    assertThat(gone).isCompleted();

    Reply.NotByRdma unknown = new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK);
    assertThat(rig.locate(channel, key, small).answers()).containsExactly(unknown, unknown);
    assertThat(rig.registeredBytes()).isZero();
  }

  @Test
  void aLeasedWindowStaysUntilItsLeaseEnds() throws IOException {
    OutputFile file = rig.file(4 * PAGE);
    Reply.Located leased = rig.locate(channel, rig.block(file, 0, 4 * PAGE));

    CompletableFuture<Void> gone = forget(file);
    rig.run();

    assertThat(gone).isNotDone();
    assertThat(rig.read(leased.answers().get(0))).isEqualTo(ServerRig.bytes(file, 0, 4 * PAGE));
    rig.release(channel, leased.lease());
    assertThat(gone).isCompleted();
    assertThat(channel.closeCause()).isNull();
  }

  @Test
  void whoHoldsALeaseForTooLongLosesTheConnectionFirst() throws IOException {
    OutputFile file = rig.file(4 * PAGE);
    Reply.Located leased = rig.locate(channel, rig.block(file, 0, 4 * PAGE));
    ScriptedOwnerChannel innocent = rig.connect();
    CompletableFuture<Void> gone = forget(file);

    rig.advance(Duration.ofMillis(4999));
    assertThat(channel.closeCause()).isNull();
    rig.advance(Duration.ofMillis(1));
    assertThat(channel.closeCause()).isInstanceOf(TransportException.class);
    assertThat(innocent.closeCause()).isNull();
    assertThat(rig.count(Counter.LEASES_REVOKED)).isEqualTo(1);

    // As long as the queue pair exists nothing is taken from under the reader.
    assertThat(gone).isNotDone();
    assertThat(rig.read(leased.answers().get(0))).isEqualTo(ServerRig.bytes(file, 0, 4 * PAGE));

    finishClosing();
    assertThat(gone).isCompleted();
    assertThat(rig.registeredBytes()).isZero();
    rig.breakOff(innocent);
  }

  @Test
  void aReadThatComesTooLateFails() throws IOException {
    OutputFile file = rig.file(4 * PAGE);
    Reply.Located located = rig.locate(channel, rig.block(file, 0, 4 * PAGE));
    rig.reader();
    rig.release(channel, located.lease());
    CompletableFuture<Void> gone = forget(file);
    rig.run();
    assertThat(gone).isCompleted();
    Reply.Piece piece = ((Reply.Granted) located.answers().get(0)).pieces().get(0);
    assertThat(rig.reader().read(piece)).isEqualTo(WcStatus.REM_ACCESS_ERR);
  }

  @Test
  void aRegistrationOnItsWayIsUndone() throws IOException {
    OutputFile file = rig.file(4 * PAGE);
    BlockKey key = rig.block(file, 0, 4 * PAGE);
    int id = channel.deliver(new Request.Locate(List.of(key), ServerRig.NO_RELEASES));

    CompletableFuture<Void> gone = forget(file);
    assertThat(gone).isNotDone();
    rig.run();

    assertThat(gone).isCompleted();
    assertThat(((Reply.Located) channel.replyTo(id)).answers())
        .containsExactly(new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK));
    assertThat(rig.registeredBytes()).isZero();
  }

  @Test
  void aCopyOnItsWayIsWaitedForAndNotGranted() throws IOException {
    OutputFile file = rig.file(4 * PAGE);
    rig.fetch(channel, rig.block(rig.file(1000), 0, 1000)); // so that staging memory is there
    BlockKey key = rig.block(file, 0, 1000);
    int id = channel.deliver(new Request.Locate(List.of(key), ServerRig.NO_RELEASES));
    rig.loop.runAll();

    CompletableFuture<Void> gone = forget(file);
    assertThat(gone).isNotDone();
    rig.run();

    assertThat(gone).isCompleted();
    Reply.Located reply = (Reply.Located) channel.replyTo(id);
    assertThat(reply.lease()).isZero();
    assertThat(reply.answers()).containsExactly(new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK));
  }

  @Test
  void forgettingWhatIsNotKnownOrTwiceCompletes() throws IOException {
    OutputFile file = rig.file(4 * PAGE);
    OutputFile other = rig.file(4 * PAGE);
    Reply.Located leased = rig.locate(channel, rig.block(file, 0, 4 * PAGE));
    CompletableFuture<Void> first = rig.server.forget(List.of(file, other));
    CompletableFuture<Void> second = rig.server.forget(List.of(file));
    CompletableFuture<Void> none = rig.server.forget(List.of());
    rig.run();
    assertThat(none).isCompleted();
    assertThat(first).isNotDone();
    assertThat(second).isNotDone();
    rig.release(channel, leased.lease());
    assertThat(first).isCompleted();
    assertThat(second).isCompleted();
  }

  @Test
  void aDomainIsGivenUpWithItsSessionsAndMemory() throws IOException {
    ProtectionDomain other = rig.device.allocateProtectionDomain();
    ScriptedOwnerChannel theirs = new ScriptedOwnerChannel(1, other).open(rig.server.acceptor());
    OutputFile file = rig.file(40 * PAGE);
    BlockKey large = rig.block(file, 0, 16 * PAGE);
    BlockKey small = rig.block(file, 20 * PAGE, 1000);
    rig.locate(theirs, large, small);
    rig.locate(channel, large);
    long both = rig.registeredBytes();

    CompletableFuture<Void> gone = rig.server.forget(other);
    rig.run();
    assertThat(gone).isNotDone();
    assertThat(theirs.closeCause()).isNotNull();
    theirs.finishClose();
    rig.run();

    assertThat(gone).isCompleted();
    assertThat(rig.registeredBytes()).isBetween(1L, both - 1);
    assertThat(channel.closeCause()).isNull();
    other.close(); // the fake would report a region left in it
    assertThat(rig.server.forget(other)).isNotDone();
    rig.run();
  }

  @Test
  void stoppingClosesTheSessionsBeforeTheMemoryGoes() throws IOException {
    OutputFile file = rig.file(40 * PAGE);
    Reply.Located leased = rig.locate(channel, rig.block(file, 0, 4 * PAGE));
    CompletableFuture<Void> stopped = rig.server.stop();
    rig.run();

    assertThat(channel.closeCause()).hasMessageContaining("stops");
    assertThat(stopped).isNotDone();
    assertThat(rig.read(leased.answers().get(0))).isEqualTo(ServerRig.bytes(file, 0, 4 * PAGE));

    finishClosing();
    assertThat(stopped).isCompleted();
    assertThat(rig.registeredBytes()).isZero();
  }

  @Test
  void aReaderThatComesWhileTheServerStopsIsSentAway() {
    CompletableFuture<Void> stopped = rig.server.stop();
    rig.loop.runAll();
    ScriptedOwnerChannel late = rig.connect();
    assertThat(late.closeCause()).isNotNull();
    assertThat(stopped).isNotDone();
    late.finishClose();
  }

  /** The channel does not know the session, and will not tell it of its end. */
  @Test
  void aSessionThatCouldNotBeginIsNotWaitedFor() {
    CompletableFuture<Void> stopped = rig.server.stop();
    rig.loop.runAll();
    ScriptedOwnerChannel late =
        new ScriptedOwnerChannel(1, rig.domain).breakClose(new OutOfMemoryError("the test's"));
    assertThatThrownBy(() -> late.open(rig.server.acceptor())).isInstanceOf(OutOfMemoryError.class);

    finishClosing();

    assertThat(stopped).isCompleted();
  }

  @Test
  void whatAnErrorKeptFromBeingForgottenGoesLater() throws IOException {
    OutputFile file = rig.file(40 * PAGE);
    BlockKey key = rig.block(file, 0, 40 * PAGE);
    rig.fetch(channel, key);
    OutOfMemoryError shortage = new OutOfMemoryError("the test's");
    rig.loop.breakTimers(shortage);
    CompletableFuture<Void> gone = rig.server.forget(List.of(file));
    assertThatThrownBy(rig.loop::runAll).isSameAs(shortage);
    assertThat(gone).isCompletedExceptionally();
    rig.loop.breakTimers(null);

    rig.loop.recover(shortage);
    rig.run();

    assertThat(rig.registeredBytes()).isZero();
    assertThat(rig.locateOne(channel, key))
        .isEqualTo(new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK));
  }

  @Test
  void forgettingAfterTheEndCompletes() throws IOException {
    OutputFile file = rig.file(PAGE);
    CompletableFuture<Void> stopped = rig.server.stop();
    rig.loop.runAll();
    finishClosing();
    assertThat(stopped).isCompleted();
    assertThat(rig.server.forget(List.of(file))).isCompleted();
  }

  @Test
  void aRequestInProgressEndsWithItsSession() throws IOException, VerbsException {
    OutputFile file = rig.file(40 * PAGE);
    channel.deliver(
        new Request.Locate(
            List.of(rig.block(file, 0, 16 * PAGE), rig.block(file, 20 * PAGE, 1000)),
            ServerRig.NO_RELEASES));
    channel.fail(new TransportException(TransportException.Kind.PEER_LOST, "gone"));
    finishClosing();
    assertThat(rig.count(Counter.LEASES_LIVE)).isZero();
    assertThat(rig.loop.pendingTimers()).isZero();
  }
}
