package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.BREAKER_OPEN;
import static io.rdmashuffle.transport.FallbackReason.TRANSFER_FAILED;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A channel that breaks while something is under way. */
final class ChannelFailureTest {
  private final Owner owner = new Owner(20_000);

  private static TransportException broken() {
    return new TransportException(Kind.PEER_LOST, "test: the link is cut");
  }

  @Test
  void everyBlockNotYetHereFallsBackOnce() {
    ClientRig rig = new ClientRig(Setup.standard().withWindow(200_000));
    Results results = rig.fetch(300); // more than one frame, more than one window
    Results other = rig.fetch(5);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, owner);
    rig.complete(channel.reads().get(0));
    rig.settle();
    long arrived = results.arrived();
    assertThat(arrived).isBetween(1L, 299L);

    rig.fail(channel);

    assertThat(results.isComplete()).isTrue();
    assertThat(results.arrived()).isEqualTo(arrived);
    assertThat(other.reasons()).containsOnly(TRANSFER_FAILED);
    assertThat(rig.counters.fallbacks(TRANSFER_FAILED)).isEqualTo(305 - arrived);
    results.checkWhatCame(owner);
    rig.close();
  }

  @Test
  void memoryIsNotReusedBeforeTheQueuePairIsGone() {
    ClientRig rig = new ClientRig();
    Results results = rig.fetch(10);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, owner);
    int inUse = rig.pool.chunksOut();
    assertThat(inUse).isPositive();

    channel.fail(broken());
    rig.advance(Duration.ofSeconds(3));
    assertThat(rig.pool.chunksOut()).isEqualTo(inUse);
    assertThat(results.reported()).isZero();
    rig.memory.land(channel.reads().get(0).posted().get(0)); // the adapter may still write

    channel.finishClose();
    assertThat(rig.chunksHeld()).isZero();
    assertThat(results.isComplete()).isTrue();
    rig.close();
  }

  @Test
  void aBlockReadInPartGivesItsMemoryBack() {
    ClientRig rig = new ClientRig(Setup.standard().withWindow(100_000));
    Owner large = new Owner(500_000);
    Results results = rig.fetch(1);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, large);
    rig.complete(channel.reads().get(0));
    rig.settle();
    assertThat(rig.pool.chunksOut()).isGreaterThanOrEqualTo(8);

    rig.fail(channel);

    assertThat(results.reasons()).containsOnly(TRANSFER_FAILED);
    assertThat(rig.chunksHeld()).isZero();
    rig.close();
  }

  @Test
  void transitMemoryComesBackToo() {
    ClientRig rig = new ClientRig(Setup.standard().withChunks(3, 2));
    Owner large = new Owner(500_000);
    Results results = rig.fetch(1);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, large);
    rig.threads.copy().pause();
    rig.complete(channel.reads().get(0));
    rig.settle();

    rig.fail(channel);
    assertThat(results.reasons()).containsOnly(TRANSFER_FAILED);
    rig.threads.copy().resume();
    rig.settle();

    assertThat(rig.chunksHeld()).isZero();
    rig.close();
  }

  @Test
  void thePeerIsLeftAloneAfterwards() {
    ClientRig rig = new ClientRig();
    ScriptedReaderChannel channel = rig.connected(owner);
    Results busy = rig.fetch(2);
    rig.fail(channel);
    assertThat(busy.reasons()).containsOnly(TRANSFER_FAILED);

    Results soon = rig.fetch(2);
    assertThat(soon.reasons()).containsOnly(BREAKER_OPEN);
    assertThat(rig.discovery.count()).isEqualTo(1);

    rig.advance(Duration.ofMillis(1250));
    ScriptedReaderChannel next = rig.connected(owner);
    assertThat(rig.discovery.count()).isEqualTo(2);
    rig.fail(next);
    rig.close();
  }

  @Test
  void aConnectionLostWhileNobodyUsesItIsMadeAnewAtOnce() {
    ClientRig rig = new ClientRig();
    ScriptedReaderChannel channel = rig.connected(owner);
    rig.fail(channel);

    ScriptedReaderChannel next = rig.connected(owner);

    for (FallbackReason reason : FallbackReason.values()) {
      assertThat(rig.counters.fallbacks(reason)).isZero();
    }
    rig.fail(next);
    rig.close();
  }

  @Test
  void aFetchThatComesWhileTheChannelCloses() {
    ClientRig rig = new ClientRig();
    ScriptedReaderChannel channel = rig.connected(owner);
    channel.fail(broken());

    Results results = rig.fetch(3);
    assertThat(results.reported()).isZero();
    channel.finishClose();
    rig.settle();

    assertThat(results.reasons()).containsOnly(TRANSFER_FAILED);
    rig.close();
  }
}
