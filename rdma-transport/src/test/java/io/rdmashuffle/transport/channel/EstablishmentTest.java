package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.testing.LoggedLines;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class EstablishmentTest {
  private static final byte[] WRONG = "another secret".getBytes(StandardCharsets.US_ASCII);

  @Test
  void connectsAndAuthenticatesBothSides() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      assertThat(listener.heard).containsExactly("open");
      assertThat(listener.channel.requestCredits()).isEqualTo(16);
      assertThat(listener.channel.readCredits()).isEqualTo(128);
      assertThat(listener.channel.keepAliveNs()).isEqualTo(Duration.ofSeconds(5).toNanos());
      OwnerChannel ownerSide = net.owner.acceptor.only().channel;
      assertThat(ownerSide.credentialId()).isEqualTo(Network.TICKET);
      assertThat(ownerSide.domain()).isSameAs(net.owner.domain);
      assertThat(net.owner.count(Counter.CONNECTIONS_LIVE)).isEqualTo(1);
      assertThat(net.reader.count(Counter.CONNECTIONS_LIVE)).isEqualTo(1);
    }
  }

  @Test
  void anUnknownTicketIsRefusedBeforeAnythingIsCreated() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.dial(net.reader, net.owner.target(1, Network.SECRET));
      assertThat(listener.heard).containsExactly("dial failed");
      assertThat(listener.onlyCause()).hasMessageContaining("wrong, expired or used");
      assertThat(listener.onlyCause().kind()).isEqualTo(Kind.PEER_LOST);
      assertThat(net.owner.budget.usedBytes()).isZero();
      assertThat(net.owner.count(Counter.CONNECTIONS_REFUSED)).isEqualTo(1);
    }
  }

  @Test
  void aWrongSecretIsRefusedBeforeTheTicketIsSpent() throws Exception {
    try (Network net = new Network()) {
      RecordingListener wrong = net.dial(net.reader, net.owner.target(Network.TICKET, WRONG));
      assertThat(wrong.onlyCause()).hasMessageContaining("wrong, expired or used");
      assertThat(net.owner.credentials.isSpent(Network.TICKET)).isFalse();
      net.connect();
    }
  }

  @Test
  void aTicketWorksOnce() throws Exception {
    try (Network net = new Network()) {
      net.connect();
      RecordingListener second =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      assertThat(second.heard).containsExactly("dial failed");
      assertThat(net.owner.acceptor.sessions).hasSize(1);
    }
  }

  @Test
  void anExpiredTicketIsRefused() throws Exception {
    try (Network net = new Network()) {
      net.owner.credentials.expire(Network.TICKET);
      RecordingListener late =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      assertThat(late.onlyCause()).hasMessageContaining("wrong, expired or used");
    }
  }

  @Test
  void aJobSecretWorksForManyConnections() throws Exception {
    try (Network net = new Network()) {
      net.owner.credentials.addJob(5, Network.SECRET);
      for (int i = 0; i < 3; i++) {
        assertThat(net.dial(net.reader, net.owner.target(5, Network.SECRET)).heard)
            .containsExactly("open");
      }
    }
  }

  @Test
  void nobodyListeningIsSaidPlainly() throws Exception {
    try (Network net = new Network()) {
      Node silent = net.addNode(net.settings);
      RecordingListener listener = net.dial(net.reader, silent.target(1, Network.SECRET));
      assertThat(listener.onlyCause()).hasMessageContaining("nobody listens there");
    }
  }

  @Test
  void anUnreachableOwnerIsSaidPlainly() throws Exception {
    try (Network net = new Network()) {
      net.fabric.faults().makeUnreachable(net.owner.device.address());
      RecordingListener listener =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      assertThat(listener.onlyCause()).hasMessageContaining("UNREACHABLE");
    }
  }

  @Test
  void aSilentOwnerIsGivenUpAtTheDeadline() throws Exception {
    try (Network net = new Network()) {
      net.fabric.faults().blackHole(net.owner.device.address());
      RecordingListener listener =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      net.pass(Duration.ofMillis(4_900));
      assertThat(listener.heard).isEmpty();
      net.pass(Duration.ofMillis(200));
      assertThat(listener.heard).containsExactly("dial failed");
      assertThat(listener.onlyCause()).hasMessageContaining("longer than 5000 ms");
    }
  }

  @Test
  void abandoningTellsTheListenerOnce() throws Exception {
    try (Network net = new Network()) {
      for (int rounds = 0; rounds < 40; rounds++) {
        net.owner.credentials.addTicket(1000 + rounds, Network.SECRET);
        RecordingListener listener = new RecordingListener();
        Dialer.Attempt attempt =
            net.reader
                .core
                .dialer()
                .dial(net.owner.target(1000 + rounds, Network.SECRET), listener);
        for (int i = 0; i < rounds; i++) {
          net.fabric.step();
          net.nodes.forEach(Node::step);
        }
        boolean wasOpen = listener.channel != null;
        attempt.abandon();
        net.settle();
        assertThat(listener.heard).containsExactly(wasOpen ? "open" : "dial failed");
      }
    }
  }

  @Test
  void shutDownInTheMiddleOfAConnectLeavesNothing() throws Exception {
    for (int rounds = 0; rounds < 40; rounds++) {
      RecordingListener listener = new RecordingListener();
      try (Network net = new Network()) {
        net.reader.core.dialer().dial(net.owner.target(Network.TICKET, Network.SECRET), listener);
        for (int i = 0; i < rounds; i++) {
          net.fabric.step();
          net.nodes.forEach(Node::step);
        }
      }
      assertThat(listener.heard).isIn(List.of("dial failed"), List.of("open", "closed"));
    }
  }

  @Test
  void credentialsThatThrowCostTheirConnectionOnlyAndOneLine() throws Exception {
    try (Network net = new Network();
        LoggedLines logged = new LoggedLines()) {
      net.owner.credentials.throwOnRedeem(9, Network.SECRET);
      for (int i = 0; i < 50; i++) {
        RecordingListener listener = net.dial(net.reader, net.owner.target(9, Network.SECRET));
        assertThat(listener.onlyCause()).hasMessageContaining("could not set up its side");
        assertThat(net.owner.core.limits().inUse()).isZero();
      }
      assertThat(logged.with("IllegalStateException: thrown on purpose")).hasSize(1);
      net.connect();
    }
  }

  @Test
  void anEmptySecretIsTheCallersBugAndTakesNoRoom() throws Exception {
    try (Network net = new Network()) {
      Dialer.Target target = net.owner.target(Network.TICKET, new byte[0]);
      assertThatThrownBy(() -> net.reader.core.dialer().dial(target, new RecordingListener()))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(net.reader.core.limits().inUse()).isZero();
    }
  }
}
