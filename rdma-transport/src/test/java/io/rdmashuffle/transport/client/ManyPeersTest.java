package io.rdmashuffle.transport.client;

import static io.rdmashuffle.transport.FallbackReason.CONNECTION_CAP;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.channel.testing.ScriptedDialer.Dialled;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Many more peers than connections. */
final class ManyPeersTest {
  private static final int CAP = 50;

  private final ClientRig rig = new ClientRig(Setup.standard(), capped());
  private final Owner owner = new Owner(100);
  private final List<ScriptedReaderChannel> channels = new ArrayList<>();
  private final Set<String> everConnected = new HashSet<>();
  private int mostAtATime;

  private static ChannelSettings capped() {
    ChannelSettings standard = ChannelSettings.defaults();
    return new ChannelSettings(
        standard.requestsInFlight(),
        standard.readsInFlight(),
        CAP,
        standard.connectTimeout(),
        standard.requestTimeout(),
        standard.keepAlive(),
        standard.idleTimeout(),
        standard.spin());
  }

  private static Peer peer(int id) {
    return new Peer("peer-" + id, "host-" + id, 7337);
  }

  /** Every peer is asked for a block; then everybody works until nothing is left to do. */
  private List<Results> wave(int peers) {
    List<Results> wave = new ArrayList<>();
    for (int i = 0; i < peers; i++) {
      wave.add(rig.fetch(peer(i), rig.keys(1)));
    }
    for (int ms = 0; ms < 200 && wave.stream().anyMatch(r -> !r.isComplete()); ms++) {
      work();
      rig.advance(Duration.ofMillis(1));
    }
    wave.forEach(results -> results.checkWhatCame(owner));
    return wave;
  }

  private void work() {
    assertThat(rig.dialer.pending().size()).isLessThanOrEqualTo(DialGate.DIALS);
    for (Dialled dialled : rig.dialer.pending()) {
      everConnected.add(dialled.target().peerName());
      channels.add(dialled.connect());
    }
    mostAtATime = Math.max(mostAtATime, channels.size());
    for (ScriptedReaderChannel channel : List.copyOf(channels)) {
      if (channel.closeCause() == null) {
        rig.serve(channel, owner);
      } else {
        channel.finishClose();
        channels.remove(channel);
      }
    }
  }

  @Test
  void moreFetchesThanConnectionsNeitherWaitNorThrash() {
    List<Results> first = wave(500);

    assertThat(first).allMatch(Results::isComplete);
    assertThat(first.stream().filter(r -> r.arrived() == 1)).hasSize(CAP);
    assertThat(rig.counters.fallbacks(CONNECTION_CAP)).isEqualTo(500 - CAP);
    assertThat(rig.dialer.dials()).isEqualTo(CAP);

    for (int i = 0; i < 8; i++) {
      assertThat(wave(500)).allMatch(Results::isComplete);
      rig.advance(Duration.ofMillis(250));
    }
    assertThat(rig.dialer.dials()).as("no connection was closed while it was young").isEqualTo(CAP);
    end();
  }

  @Test
  void inTheLongRunEveryPeerHasItsTurn() {
    for (int round = 0; round < 400 && everConnected.size() < 200; round++) {
      int from = round / 4 * 40 % 200; // groups of peers are busy for a while, then others
      for (int i = from; i < from + 40; i++) {
        rig.fetch(peer(i), rig.keys(1));
      }
      for (int ms = 0; ms < 20; ms++) {
        work();
        rig.advance(Duration.ofMillis(1));
      }
      for (int s = 0; s < 4; s++) {
        rig.advance(Duration.ofSeconds(1));
        work();
      }
    }

    assertThat(everConnected).hasSize(200);
    assertThat(mostAtATime).isLessThanOrEqualTo(CAP);
    assertThat(rig.dialer.dials()).isLessThan(1600);
    channels.forEach(rig::fail);
    rig.client.close();
    rig.settle();
  }

  @Test
  void peersNotUsedForLongAreForgottenAndTheirNumberIsBounded() {
    rig.discovery.manual();
    for (int i = 0; i < PeerTable.MAX_PEERS; i++) {
      rig.fetch(peer(i), rig.keys(1));
    }

    Results oneMore = rig.fetch(peer(PeerTable.MAX_PEERS), rig.keys(1));

    assertThat(oneMore.reasons()).as("there was room for it").containsExactly(CONNECTION_CAP);
    rig.client.close();
    rig.settle();
    rig.close();
  }

  private void end() {
    rig.client.close();
    rig.settle();
    channels.forEach(ScriptedReaderChannel::finishClose);
    rig.close();
  }
}
