package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.BREAKER_OPEN;
import static io.rdmashuffle.transport.FallbackReason.CONNECTION_CAP;
import static io.rdmashuffle.transport.FallbackReason.CONNECT_FAILED;
import static io.rdmashuffle.transport.FallbackReason.DISCOVERY_FAILED;
import static io.rdmashuffle.transport.FallbackReason.OVERLOADED;
import static io.rdmashuffle.transport.FallbackReason.PEER_WITHOUT_RDMA;
import static io.rdmashuffle.transport.FallbackReason.TRANSFER_FAILED;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ConnectionCapException;
import io.rdmashuffle.transport.channel.testing.ScriptedDialer.Dialled;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.testing.LoggedLines;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The ways to a connection, and how a peer is left alone when there is none. */
final class PeerLinkTest {
  private final ClientRig rig = new ClientRig();
  private final Owner owner = new Owner(100);

  private static TransportException refused() {
    return new TransportException(Kind.PEER_LOST, "test: refused");
  }

  private void failDial(TransportException cause) {
    rig.awaitDial();
    rig.dialer.pending().get(0).fail(cause);
    rig.settle();
  }

  @Test
  void fetchesThatComeMeanwhileWaitForTheOneConnection() {
    rig.discovery.manual();
    Results first = rig.fetch(2);
    Results second = rig.fetch(3);
    assertThat(rig.discovery.count()).isEqualTo(1);
    rig.discovery.last().answer(ScriptedDiscovery.address(1));
    rig.settle();
    Results third = rig.fetch(1);
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);

    assertThat(rig.discovery.count()).isEqualTo(1);
    assertThat(rig.dialer.dials()).isEqualTo(1);
    for (Results results : new Results[] {first, second, third}) {
      assertThat(results.isComplete()).isTrue();
      results.checkAndClose(owner);
    }
    rig.fail(channel);
    rig.close();
  }

  @Test
  void aPeerWithoutRdmaIsRememberedForAWhile() {
    rig.discovery.manual();
    Results first = rig.fetch(2);
    rig.discovery.last().answer().complete(new Invitation.None(PEER_WITHOUT_RDMA, "no adapter"));
    rig.settle();
    assertThat(first.reasons()).containsOnly(PEER_WITHOUT_RDMA);

    rig.advance(Duration.ofSeconds(59));
    assertThat(rig.fetch(1).reasons()).containsOnly(PEER_WITHOUT_RDMA);
    assertThat(rig.discovery.count()).isEqualTo(1);

    rig.advance(Duration.ofSeconds(1));
    rig.fetch(1);
    assertThat(rig.discovery.count()).isEqualTo(2);
    rig.close();
  }

  @Test
  void aPeerThatIsNotReadyIsAskedAgainSoonAndWithDoublingPauses() {
    rig.discovery.manual();
    long pauseMs = 200;
    for (int asked = 1; asked <= 8; asked++) {
      Results early = rig.fetch(2);
      assertThat(rig.discovery.count()).isEqualTo(asked);
      rig.discovery.last().answer().complete(new Invitation.NotYet("still opening"));
      rig.settle();
      assertThat(early.reasons()).containsOnly(PEER_WITHOUT_RDMA);
      rig.advance(Duration.ofMillis(pauseMs - 1));
      assertThat(rig.fetch(1).reasons()).containsOnly(PEER_WITHOUT_RDMA);
      rig.advance(Duration.ofMillis(pauseMs / 4 + 1)); // what is added at random
      pauseMs = Math.min(5_000, 2 * pauseMs);
    }

    Results ready = rig.fetch(3);
    rig.discovery.last().answer(ScriptedDiscovery.address(1));
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);
    assertThat(ready.arrived()).isEqualTo(3);
    ready.checkAndClose(owner);
    rig.fail(channel);
    rig.close();
  }

  @Test
  void manyPeersThatFailOnOneHostAreLoggedOnceAMinute() {
    rig.discovery.broken();
    try (LoggedLines logged = new LoggedLines()) {
      for (int id = 0; id < 79; id++) {
        rig.fetch(new Peer("flood-" + id, "flooding-host", 7337), rig.keys(1));
      }
      assertThat(logged.with("@flooding-host:7337] is served by")).hasSize(1);
      rig.fetch(new Peer("other", "other-host", 7337), rig.keys(1));
      assertThat(logged.with("@other-host:7337] is served by")).hasSize(1);

      rig.advance(Duration.ofMinutes(1));
      rig.fetch(new Peer("flood-0", "flooding-host", 7337), rig.keys(1));
      assertThat(logged.with("@flooding-host:7337] is served by")).hasSize(2);
      assertThat(logged.with("(78 more like it were not logged)")).hasSize(1);
    }
    rig.close();
  }

  @Test
  void aPeerThatChangesItsAnswerIsLoggedOnceAMinute() {
    rig.discovery.manual();
    try (LoggedLines logged = new LoggedLines()) {
      for (int id = 0; id < 40; id++) {
        rig.fetch(new Peer("none-" + id, "changing-host", 7337), rig.keys(1));
        rig.discovery.last().answer().complete(new Invitation.None(PEER_WITHOUT_RDMA, "no"));
        rig.settle();
        rig.fetch(new Peer("soon-" + id, "changing-host", 7337), rig.keys(1));
        rig.discovery.last().answer().complete(new Invitation.NotYet("still opening"));
        rig.settle();
      }
      assertThat(logged.with("@changing-host:7337] is served by")).hasSize(1);
    }
    rig.close();
  }

  @Test
  void failedDiscoveryOpensTheBreaker() {
    rig.discovery.manual();
    Results first = rig.fetch(2);
    rig.discovery.last().answer().completeExceptionally(new IOException("test: no route"));
    rig.settle();

    assertThat(first.reasons()).containsOnly(DISCOVERY_FAILED);
    assertThat(rig.fetch(1).reasons()).containsOnly(BREAKER_OPEN);
    rig.close();
  }

  @Test
  void anInvitationWithoutAddressesIsAFailure() {
    rig.discovery.manual();
    Results first = rig.fetch(2);
    rig.discovery.last().answer(new InetSocketAddress[0]);
    rig.settle();

    assertThat(first.reasons()).containsOnly(DISCOVERY_FAILED);
    rig.close();
  }

  @Test
  void discoveryThatThrowsIsAFailure() {
    rig.discovery.broken();
    assertThat(rig.fetch(1).reasons()).containsOnly(DISCOVERY_FAILED);
    rig.close();
  }

  @Test
  void discoveryHasADeadlineAndALateAnswerIsHarmless() {
    rig.discovery.manual();
    Results first = rig.fetch(2);
    rig.advance(Duration.ofMillis(4999));
    assertThat(first.reported()).isZero();
    rig.advance(Duration.ofMillis(1));
    assertThat(first.reasons()).containsOnly(DISCOVERY_FAILED);
    ScriptedDiscovery.Asked late = rig.discovery.last();

    rig.advance(Duration.ofSeconds(2));
    Results second = rig.fetch(1);
    assertThat(rig.discovery.count()).isEqualTo(2);
    late.answer(ScriptedDiscovery.address(9));
    rig.advance(Duration.ofMillis(10));

    assertThat(rig.dialer.dials()).isZero();
    rig.discovery.last().answer(ScriptedDiscovery.address(1));
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);
    second.checkAndClose(owner);
    rig.fail(channel);
    rig.close();
  }

  @Test
  void aQuestionThatNobodyWaitsForAnyMoreIsGivenUp() {
    rig.discovery.manual();
    rig.fetch(2);
    rig.advance(Duration.ofSeconds(5));
    assertThat(rig.discovery.last().answer()).isCancelled();

    rig.advance(Duration.ofSeconds(2));
    rig.fetch(1);
    rig.client.close();
    assertThat(rig.discovery.count()).isEqualTo(2);
    rig.settle();
    assertThat(rig.discovery.last().answer()).isCancelled();
    rig.close();
  }

  @Test
  void theNextAddressIsTriedWhenOneFails() {
    rig.discovery.manual();
    Results results = rig.fetch(2);
    rig.discovery.last().answer(ScriptedDiscovery.address(1), ScriptedDiscovery.address(2));
    failDial(refused());
    rig.awaitDial();

    Dialled second = rig.dialer.pending().get(0);
    assertThat(second.target().address()).isEqualTo(ScriptedDiscovery.address(2));
    ScriptedReaderChannel channel = second.connect();
    rig.serve(channel, owner);
    assertThat(results.arrived()).isEqualTo(2);
    results.checkAndClose(owner);
    rig.fail(channel);
    rig.close();
  }

  @Test
  void aSilentAddressLeavesTimeForTheNext() {
    rig.discovery.manual();
    Results results = rig.fetch(2);
    rig.discovery.last().answer(ScriptedDiscovery.address(1), ScriptedDiscovery.address(2));
    rig.awaitDial();

    rig.advance(Duration.ofMillis(2600));
    assertThat(rig.dialer.pending().get(0).target().address())
        .isEqualTo(ScriptedDiscovery.address(2));
    assertThat(results.reported()).isZero();
    rig.advance(Duration.ofMillis(2500));

    assertThat(results.reasons()).containsOnly(CONNECT_FAILED);
    assertThat(rig.dialer.pending()).isEmpty();
    rig.close();
  }

  @Test
  void pausesDoubleUpToTheMaximumAndEndWithASuccess() {
    rig.fetch(1);
    failDial(refused());
    long pauseMs = 1000;
    for (int i = 0; i < 10; i++) {
      rig.advance(Duration.ofMillis(pauseMs - 10));
      assertThat(rig.fetch(1).reasons()).containsOnly(BREAKER_OPEN);
      rig.advance(Duration.ofMillis(pauseMs / 4 + 11)); // what is added at random
      assertThat(rig.fetch(1).reported()).as("probe %s", i).isZero();
      failDial(refused());
      pauseMs = Math.min(60_000, pauseMs * 2);
    }
    assertThat(pauseMs).isEqualTo(60_000);

    rig.advance(Duration.ofMillis(75_001));
    ScriptedReaderChannel channel = rig.connected(owner);
    rig.fetch(1);
    rig.fail(channel);
    rig.advance(Duration.ofMillis(1251));
    assertThat(rig.fetch(1).reported()).isZero();
    rig.client.close();
    rig.settle();
    rig.close();
  }

  @Test
  void onlyOneFetchProbesAPeerThatFailed() {
    rig.fetch(1);
    failDial(refused());
    rig.advance(Duration.ofSeconds(2));

    Results probe = rig.fetch(1);
    Results other = rig.fetch(1);
    assertThat(other.reasons()).containsOnly(BREAKER_OPEN);
    assertThat(probe.reported()).isZero();

    ScriptedReaderChannel channel = rig.connect();
    Results next = rig.fetch(1);
    rig.serve(channel, owner);
    probe.checkAndClose(owner);
    next.checkAndClose(owner);
    assertThat(next.isComplete()).isTrue();
    rig.fail(channel);
    rig.close();
  }

  @Test
  void aProbeInVainCostsItsFetchATenthOfASecondAndGoesOnWithoutIt() {
    rig.fetch(1);
    failDial(refused());
    rig.advance(Duration.ofSeconds(2));

    Results inVain = rig.fetch(2);
    rig.advance(Duration.ofMillis(99));
    assertThat(inVain.reported()).isZero();
    rig.advance(Duration.ofMillis(1));
    assertThat(inVain.reasons()).containsOnly(BREAKER_OPEN);
    assertThat(rig.fetch(1).reasons()).containsOnly(BREAKER_OPEN);
    assertThat(rig.dialer.pending()).hasSize(1);
    rig.advance(Duration.ofSeconds(5));
    assertThat(rig.dialer.pending()).as("the probe has failed").isEmpty();
    assertThat(rig.fetch(1).reasons()).containsOnly(BREAKER_OPEN);

    rig.advance(Duration.ofMillis(2501));
    Results slow = rig.fetch(2);
    rig.advance(Duration.ofMillis(100));
    assertThat(slow.reasons()).containsOnly(BREAKER_OPEN);
    ScriptedReaderChannel channel = rig.connect();
    Results next = rig.fetch(3);
    rig.serve(channel, owner);
    rig.advance(Duration.ofMillis(100));
    assertThat(next.arrived()).isEqualTo(3);
    next.checkAndClose(owner);
    rig.fail(channel);
    rig.close();
  }

  @Test
  void aProbedPeerThatConnectsAndThenKeepsSilentCostsATenthOfASecond() {
    rig.fetch(1);
    failDial(refused());
    rig.advance(Duration.ofSeconds(2));
    Results probe = rig.fetch(1);
    ScriptedReaderChannel channel = rig.connect();
    Results next = rig.fetch(1);
    rig.advance(Duration.ofMillis(100));
    assertThat(probe.reasons()).containsOnly(BREAKER_OPEN);
    assertThat(next.reasons()).containsOnly(BREAKER_OPEN);

    rig.fail(channel); // the LOCATE's deadline
    rig.advance(Duration.ofMillis(1990));
    assertThat(rig.fetch(1).reasons()).as("the pause has doubled").containsOnly(BREAKER_OPEN);
    assertThat(rig.dialer.dials()).isEqualTo(2);
    rig.close();
  }

  @Test
  void aRefusalForLackOfRoomIsTheConnectionCap() {
    Results results = rig.fetch(3);
    failDial(new ConnectionCapException("test: the owner has no room"));

    assertThat(results.reasons()).containsOnly(CONNECTION_CAP);
    assertThat(rig.fetch(1).reasons()).containsOnly(CONNECTION_CAP);
    assertThat(rig.dialer.dials()).isEqualTo(1);
    rig.advance(Duration.ofMillis(1251));
    rig.connected(owner).fail(refused());
    rig.close();
  }

  @Test
  void aForgottenPeerLosesItsConnectionAndItsFetchesFallBack() {
    ScriptedReaderChannel channel = rig.connected(owner);
    Results busy = rig.fetch(2);

    rig.client.forget(ClientRig.PEER.id());
    rig.settle();

    assertThat(busy.reasons()).containsOnly(TRANSFER_FAILED);
    assertThat(channel.closeCause()).hasMessageContaining("gone for good");
    channel.finishClose();
    rig.settle();
    rig.close();
  }

  @Test
  void aPeerForgottenWhileItIsDialledIsLetGo() {
    Results waiting = rig.fetch(2);
    rig.awaitDial();

    rig.client.forget(ClientRig.PEER.id());
    rig.settle();

    assertThat(rig.dialer.pending()).isEmpty();
    assertThat(waiting.reasons()).containsOnly(TRANSFER_FAILED);
    rig.close();
  }

  @Test
  void anIdThatNamesAnotherProcessIsAnotherPeer() {
    ScriptedReaderChannel channel = rig.connected(owner);
    Results moved = rig.fetch(new Peer(ClientRig.PEER.id(), "elsewhere", 1), rig.keys(1));

    assertThat(channel.closeCause()).isNotNull();
    channel.finishClose();
    assertThat(rig.discovery.last().peer().host()).isEqualTo("elsewhere");
    ScriptedReaderChannel next = rig.connect();
    rig.serve(next, owner);
    moved.checkAndClose(owner);
    rig.fail(next);
    rig.close();
  }

  @Test
  void moreFetchesThanAnybodyNeedsAreRefused() {
    rig.discovery.manual();
    for (int i = 0; i < PeerLink.MAX_FETCHES; i++) {
      rig.fetch(1);
    }

    Results refused = rig.fetch(1);

    assertThat(refused.reasons()).containsOnly(OVERLOADED);
    rig.close();
  }
}
