package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.BREAKER_OPEN;
import static io.rdmashuffle.transport.FallbackReason.CONNECT_FAILED;
import static io.rdmashuffle.transport.FallbackReason.DISCOVERY_FAILED;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.testing.ScriptedDialer.Dialled;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Peers that swallow everything, beside peers that work: nobody waits for somebody else's peer. */
final class BlackHoledPeerTest {
  private static final int HEALTHY = 6;

  private final ClientRig rig = new ClientRig();
  private final Owner owner = new Owner(20_000);
  private final List<ScriptedReaderChannel> channels = new ArrayList<>();
  private final Peer black = new Peer("black", "host-black", 7337);
  private final Peer mute = new Peer("mute", "host-mute", 7337);

  private static Peer healthy(int number) {
    return new Peer("healthy-" + number, "host-" + number, 7337);
  }

  /** Answers for the peer's last question. */
  private void discovered(Peer peer) {
    List<ScriptedDiscovery.Asked> asked = rig.discovery.about(peer);
    asked.get(asked.size() - 1).answer(ScriptedDiscovery.address(1));
    rig.settle();
  }

  /** Whoever is dialled accepts, but for the black hole. Takes the jitter of a dial. */
  private void connectHealthy() {
    rig.advance(Duration.ofMillis(2));
    for (Dialled dialled : rig.dialer.pending()) {
      if (!dialled.target().peerName().contains("black")) {
        channels.add(dialled.connect());
      }
    }
    rig.settle();
  }

  private void serveAll() {
    channels.forEach(channel -> rig.serve(channel, owner));
  }

  /** A fetch from each healthy peer that is connected; all of it comes without time passing. */
  private void healthyPeersServeAtOnce() {
    long beforeNs = rig.loop.nowNs();
    List<Results> wave = new ArrayList<>();
    for (int i = 0; i < HEALTHY; i++) {
      wave.add(rig.fetch(healthy(i), rig.keys(5)));
    }
    serveAll();
    for (Results results : wave) {
      assertThat(results.arrived()).isEqualTo(5);
      results.checkAndClose(owner);
    }
    assertThat(rig.loop.nowNs()).isEqualTo(beforeNs);
  }

  @Test
  void healthyPeersKeepTheirSpeedAndTheOthersFallBackInTimeAndComeBack() {
    rig.discovery.manual();
    Results fromBlack = rig.fetch(black, rig.keys(4));
    discovered(black);
    Results fromMute = rig.fetch(mute, rig.keys(3));
    for (int i = 0; i < HEALTHY; i++) {
      Results first = rig.fetch(healthy(i), rig.keys(1));
      discovered(healthy(i));
      connectHealthy();
      serveAll();
      assertThat(first.arrived()).as("blocks of healthy peer %d", i).isEqualTo(1);
      first.checkAndClose(owner);
    }
    for (int ms = 0; ms < 4_800; ms += 100) {
      healthyPeersServeAtOnce();
      rig.advance(Duration.ofMillis(100));
    }
    assertThat(fromBlack.reported() + fromMute.reported()).isZero();

    rig.advance(Duration.ofMillis(200));
    serveAll();
    assertThat(fromMute.reasons()).containsOnly(DISCOVERY_FAILED);
    assertThat(fromBlack.reasons()).containsOnly(CONNECT_FAILED);
    assertThat(rig.fetch(black, rig.keys(1)).reasons()).containsOnly(BREAKER_OPEN);
    healthyPeersServeAtOnce();
    assertThat(rig.counters.fallbacks(CONNECT_FAILED)).isEqualTo(4);

    rig.advance(Duration.ofSeconds(2));
    serveAll();
    comesBack(black);
    comesBack(mute);
    end();
  }

  private void comesBack(Peer peer) {
    Results again = rig.fetch(peer, rig.keys(2));
    discovered(peer);
    rig.advance(Duration.ofMillis(2));
    channels.add(rig.dialer.pending().get(0).connect());
    serveAll();
    assertThat(again.arrived()).as("blocks of %s", peer).isEqualTo(2);
    again.checkAndClose(owner);
  }

  private void end() {
    rig.client.close();
    rig.settle();
    channels.forEach(ScriptedReaderChannel::finishClose);
    rig.close();
  }
}
