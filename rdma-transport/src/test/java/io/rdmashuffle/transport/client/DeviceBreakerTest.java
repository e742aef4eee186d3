package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.BREAKER_OPEN;
import static io.rdmashuffle.transport.FallbackReason.TRANSFER_FAILED;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.testing.LoggedLines;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.wire.Request;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When it is the adapter that fails and not a peer. */
final class DeviceBreakerTest {
  private final ClientRig rig = new ClientRig();
  private final Owner owner = new Owner(100);

  private static Peer peer(int id) {
    return new Peer("peer-" + id, "host-" + id, 7337);
  }

  private Results fetch(int peer) {
    return rig.fetch(peer(peer), rig.keys(1));
  }

  private ScriptedReaderChannel connected(int peer) {
    Results results = fetch(peer);
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    return channel;
  }

  /** So many peers fail in the middle of a fetch. */
  private void failPeers(int count) {
    List<ScriptedReaderChannel> channels = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      channels.add(connected(i));
    }
    for (int i = 0; i < count; i++) {
      fetch(i);
      rig.fail(channels.get(i));
    }
  }

  @Test
  void severalPeersFailingAtOnceStopAllFetches() {
    ScriptedReaderChannel healthy = connected(100);
    failPeers(DeviceBreaker.SUSPICIOUS_PEERS);

    assertThat(fetch(100).reasons()).containsOnly(BREAKER_OPEN);
    assertThat(fetch(101).reasons()).containsOnly(BREAKER_OPEN);
    assertThat(healthy.requests())
        .noneMatch(pending -> pending.request() instanceof Request.Locate);
    rig.fail(healthy);
    rig.close();
  }

  @Test
  void fewerPeersFailingStopOnlyThemselves() {
    failPeers(DeviceBreaker.SUSPICIOUS_PEERS - 1);

    ScriptedReaderChannel other = connected(100);
    rig.fail(other);
    rig.close();
  }

  @Test
  void aSuccessInBetweenSpeaksForTheDevice() {
    ScriptedReaderChannel healthy = connected(100);
    failPeers(DeviceBreaker.SUSPICIOUS_PEERS - 1);
    Results success = fetch(100);
    rig.serve(healthy, owner);
    success.checkAndClose(owner);
    ScriptedReaderChannel last = connected(50);
    fetch(50);
    rig.fail(last);

    assertThat(fetch(100).reported()).isZero();
    rig.serve(healthy, owner);
    rig.fail(healthy);
    rig.client.close();
    rig.settle();
  }

  @Test
  void onePeerProbesTheDeviceAndItsSuccessOpensItForAll() {
    failPeers(DeviceBreaker.SUSPICIOUS_PEERS);
    rig.advance(Duration.ofMillis(1251));

    Results probe = fetch(200);
    assertThat(fetch(201).reasons()).containsOnly(BREAKER_OPEN);
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);
    probe.checkAndClose(owner);

    ScriptedReaderChannel other = connected(201);
    rig.fail(other);
    rig.fail(channel);
    rig.close();
  }

  @Test
  void aProbeInVainDoesNotHoldUpItsFetch() {
    failPeers(DeviceBreaker.SUSPICIOUS_PEERS);
    rig.advance(Duration.ofMillis(1251));
    Results probe = fetch(200);
    rig.advance(Duration.ofNanos(PeerLink.PROBE_WAIT_NS));
    assertThat(probe.reasons()).containsOnly(BREAKER_OPEN);
    assertThat(rig.dialer.pending()).hasSize(1);
    ScriptedReaderChannel channel = rig.connect();
    Results next = fetch(200);
    rig.serve(channel, owner);
    next.checkAndClose(owner);
    assertThat(next.arrived()).isEqualTo(1);
    ScriptedReaderChannel other = connected(201);
    rig.fail(other);
    rig.fail(channel);
    rig.close();
  }

  @Test
  void aFailedProbeDoublesThePause() {
    failPeers(DeviceBreaker.SUSPICIOUS_PEERS);
    rig.advance(Duration.ofMillis(1251));
    Results probe = fetch(200);
    ScriptedReaderChannel channel = rig.connect();
    rig.fail(channel);
    assertThat(probe.reasons()).containsOnly(TRANSFER_FAILED);

    rig.advance(Duration.ofMillis(1990));
    assertThat(fetch(201).reasons()).containsOnly(BREAKER_OPEN);
    rig.advance(Duration.ofMillis(511));
    ScriptedReaderChannel next = connected(202);
    rig.fail(next);
    rig.close();
  }

  @Test
  void aProbeThatSaysNothingOfTheDeviceLetsAnotherPeerTry() {
    failPeers(DeviceBreaker.SUSPICIOUS_PEERS);
    rig.advance(Duration.ofMillis(1251));
    rig.discovery.manual();
    fetch(200);
    rig.discovery.last().answer().completeExceptionally(new IOException("test: gone"));
    rig.settle();

    fetch(201);
    rig.discovery.last().answer(ScriptedDiscovery.address(1));
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);
    assertThat(rig.counters.fallbacks(BREAKER_OPEN)).isZero();
    rig.fail(channel);
    rig.client.close();
    rig.settle();
  }

  @Test
  void aPortThatGoesDownAgainAndAgainIsToldOnceAMinute() {
    ScriptedReaderChannel channel = null;
    try (LoggedLines lines = new LoggedLines()) {
      for (int i = 0; i < 3; i++) {
        rig.portEvent(AsyncEvent.Type.PORT_DOWN);
        rig.portEvent(AsyncEvent.Type.PORT_ACTIVE);
        rig.settle();
        if (channel != null) {
          channel.finishClose();
        }
        channel = connected(i);
      }
      assertThat(lines.with("No fetch uses the RDMA device")).hasSize(1);
      assertThat(lines.with("The RDMA device works again")).hasSize(1);

      rig.advance(Duration.ofMinutes(1));
      rig.portEvent(AsyncEvent.Type.PORT_DOWN);
      rig.settle();
      channel.finishClose();
      assertThat(lines.with("No fetch uses the RDMA device"))
          .hasSize(2)
          .last()
          .asString()
          .endsWith("(2 more like it were not logged)");
    }
    rig.close();
  }

  @Test
  void aLostPortEndsEverythingAtOnce() {
    ScriptedReaderChannel channel = connected(1);
    Results reading = fetch(1);
    Results dialling = fetch(2);

    rig.portEvent(AsyncEvent.Type.PORT_DOWN);
    rig.settle();

    assertThat(reading.reasons()).containsOnly(TRANSFER_FAILED);
    assertThat(dialling.reasons()).containsOnly(TRANSFER_FAILED);
    assertThat(channel.closeCause()).hasMessageContaining("PORT_DOWN");
    assertThat(fetch(3).reasons()).containsOnly(BREAKER_OPEN);
    channel.finishClose();

    rig.portEvent(AsyncEvent.Type.PORT_ACTIVE);
    rig.settle();
    ScriptedReaderChannel again = connected(1);
    rig.fail(again);
    rig.close();
  }
}
