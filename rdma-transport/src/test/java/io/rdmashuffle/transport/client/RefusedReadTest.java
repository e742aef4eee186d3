package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.BREAKER_OPEN;
import static io.rdmashuffle.transport.FallbackReason.CONNECT_FAILED;
import static io.rdmashuffle.transport.FallbackReason.READ_REFUSED;
import static io.rdmashuffle.transport.FallbackReason.TRANSFER_FAILED;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Request;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A peer that lives and does not allow a READ. */
final class RefusedReadTest {
  private final Owner owner = new Owner(1000);

  private static long fallenBack(Results results) {
    return Arrays.stream(results.reasons()).filter(Objects::nonNull).count();
  }

  /** Answers what is asked and refuses one READ of the oldest chain. */
  private void refuse(ClientRig rig, ScriptedReaderChannel channel, int read) {
    rig.answerRequests(channel, owner);
    channel.reads().get(0).refuse(read);
    channel.finishClose();
    owner.disconnected();
    rig.settle();
  }

  @Test
  void onlyTheBlockOfTheRefusedReadFallsBack() {
    ClientRig rig = new ClientRig(Setup.standard().withWindow(50_000));
    ScriptedReaderChannel channel = rig.connected(owner);
    Results results = rig.fetch(300); // more than one frame, more than one window
    Results other = rig.fetch(5);

    refuse(rig, channel, 7);
    assertThat(fallenBack(results)).isEqualTo(1);
    ScriptedReaderChannel next = rig.connect();
    rig.serve(next, owner);

    assertThat(results.isComplete()).isTrue();
    assertThat(results.arrived()).isEqualTo(299);
    assertThat(results.reason(7)).isEqualTo(READ_REFUSED);
    assertThat(rig.counters.fallbacks(READ_REFUSED)).isEqualTo(1);
    assertThat(rig.counters.fallbacks(TRANSFER_FAILED)).isZero();
    results.checkWhatCame(owner);
    other.checkAndClose(owner);

    Results later = rig.fetch(2);
    rig.serve(next, owner);
    later.checkAndClose(owner);
    assertThat(rig.dialer.dials()).isEqualTo(2);
    rig.fail(next);
    rig.close();
  }

  @Test
  void whatIsBeingCopiedOutIsNotAskedForAgain() {
    ClientRig rig = new ClientRig(Setup.standard().withChunks(3, 2).withWindow(130_000));
    Owner large = new Owner(60_000);
    Results results = rig.fetch(4);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, large);
    rig.threads.copy().pause();
    rig.complete(channel.reads().get(0)); // stays where it is
    rig.complete(channel.reads().get(0));
    rig.settle();
    assertThat(rig.threads.copy().pending()).isPositive();
    channel.reads().get(0).refuse(0);
    channel.finishClose();
    rig.settle();
    ScriptedReaderChannel next = rig.connect();

    List<BlockKey> asked = ((Request.Locate) next.requests().get(0).request()).keys();
    assertThat(asked).containsExactly(results.keys().get(3));
    assertThat(results.reason(2)).isEqualTo(READ_REFUSED);
    assertThat(results.arrived()).isEqualTo(1);
    rig.threads.copy().resume();
    rig.serve(next, large);

    assertThat(results.isComplete()).isTrue();
    assertThat(results.arrived()).isEqualTo(3);
    results.checkWhatCame(large);
    rig.fail(next);
    assertThat(rig.chunksHeld()).isZero();
    rig.close();
  }

  @Test
  void aFetchIsAskedForAgainOnce() {
    ClientRig rig = new ClientRig(Setup.standard().withWindow(10_000));
    Results results = rig.fetch(100);
    refuse(rig, rig.connect(), 0);
    ScriptedReaderChannel second = rig.connect();
    rig.answerRequests(second, owner);
    rig.complete(second.reads().get(0));
    rig.settle();
    Results later = rig.fetch(3);
    long arrived = results.arrived();
    assertThat(arrived).isPositive();

    refuse(rig, second, 0);

    assertThat(results.isComplete()).isTrue();
    assertThat(fallenBack(results)).isEqualTo(100 - arrived);
    assertThat(later.reported()).isZero();
    ScriptedReaderChannel third = rig.connect();
    rig.serve(third, owner);
    later.checkAndClose(owner);
    results.checkWhatCame(owner);
    rig.fail(third);
    rig.close();
  }

  @Test
  void aPeerWhoseReadsAreAlwaysRefusedIsLeftAloneWithDoublingPauses() {
    ClientRig rig = new ClientRig();
    Results first = rig.fetch(2);
    refuse(rig, rig.connect(), 0);
    assertThat(first.reported()).isEqualTo(1);
    refuse(rig, rig.connect(), 0);
    assertThat(first.reasons()).containsOnly(READ_REFUSED);

    for (long pauseMs = 1000; pauseMs <= 8000; pauseMs *= 2) {
      rig.advance(Duration.ofMillis(pauseMs - 10));
      assertThat(rig.fetch(1).reasons()).as("after %s ms", pauseMs).containsOnly(BREAKER_OPEN);
      rig.advance(Duration.ofMillis(pauseMs / 4 + 11)); // what is added at random
      Results probe = rig.fetch(1);
      refuse(rig, rig.connect(), 0);
      assertThat(probe.reasons()).containsOnly(READ_REFUSED);
    }
    rig.advance(Duration.ofMillis(20_001));
    ScriptedReaderChannel works = rig.connected(owner);
    Results results = rig.fetch(2);
    refuse(rig, works, 1);
    rig.serve(rig.connect(), owner);
    assertThat(results.arrived()).as("after a block by READ all is forgiven").isEqualTo(1);
    results.checkWhatCame(owner);
    rig.close();
  }

  @Test
  void whoCannotBeReachedAgainIsLeftAlone() {
    ClientRig rig = new ClientRig();
    Results results = rig.fetch(3);
    refuse(rig, rig.connect(), 1);
    rig.awaitDial();
    rig.dialer.pending().get(0).fail(new TransportException(Kind.PEER_LOST, "test: refused"));
    rig.settle();

    assertThat(results.reasons()).containsExactly(CONNECT_FAILED, READ_REFUSED, CONNECT_FAILED);
    assertThat(rig.fetch(1).reasons()).containsOnly(BREAKER_OPEN);
    rig.close();
  }
}
