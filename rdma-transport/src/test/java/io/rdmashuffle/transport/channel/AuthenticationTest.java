package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ConnectAnswer.Reason;
import io.rdmashuffle.transport.memory.RegisteredMemory;
import io.rdmashuffle.transport.testing.LoggedLines;
import io.rdmashuffle.transport.testing.fake.RequestFaults;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What peers without the secret, or without manners, get: nothing. */
final class AuthenticationTest {
  private static final byte[] READER_NONCE = Messages.nonce(4711);

  private static MutualChallenge readerSide(byte[] secret) {
    return new MutualChallenge(new Hmac(), Network.TICKET, secret, READER_NONCE);
  }

  private static Reason rejection(RawPeer peer) {
    assertThat(peer.lastEvent().type()).isEqualTo(CmEvent.Type.REJECTED);
    return ConnectAnswer.parse(peer.lastEvent().privateData()).reason();
  }

  @Test
  void connectRequestsOfAnotherKindAreRejected() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      peer.connect(net.owner, new byte[56]);
      assertThat(rejection(peer)).isEqualTo(Reason.MALFORMED);
      assertThat(net.owner.budget.usedBytes()).isZero();
    }
  }

  @Test
  void requestsOfAStrangerAreLoggedOnceAMinute() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net);
        RawPeer other = new RawPeer(net);
        LoggedLines logged = new LoggedLines()) {
      for (int i = 0; i < 300; i++) {
        peer.connect(net.owner, new byte[56]);
      }
      assertThat(logged.with("refused /")).hasSize(1);
      other.connect(net.owner, new byte[56]);
      assertThat(logged.with("refused /")).as("another address").hasSize(2);

      net.pass(Duration.ofMinutes(1));
      peer.connect(net.owner, new byte[56]);
      assertThat(logged.with("refused /")).hasSize(3);
      assertThat(logged.with("(299 more like it were not logged)")).hasSize(1);
    }
  }

  @Test
  void anotherVersionIsRejectedAndBothVersionsNamed() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      byte[] nonce = Messages.nonce(1);
      peer.connect(net.owner, new ConnectRequest(9, Network.TICKET, nonce, new byte[16]).encode());
      assertThat(rejection(peer)).isEqualTo(Reason.VERSION);
    }
    byte[] answer = new ConnectAnswer(9, Reason.VERSION, 0).encode();
    TransportException cause = ConnectAnswer.toException("peer", 28, answer);
    assertThat(cause).hasMessageContaining("version 9").hasMessageContaining("this side 2");
    assertThat(cause.kind()).isEqualTo(Kind.CONFIG);
  }

  @Test
  void aReplayedConnectRequestIsRejected() throws Exception {
    try (Network net = new Network();
        RawPeer first = new RawPeer(net);
        RawPeer second = new RawPeer(net)) {
      net.owner.credentials.addJob(5, Network.SECRET);
      byte[] request =
          ConnectRequest.create(new Hmac(), 5, Network.SECRET, Messages.nonce(1)).encode();
      first.connect(net.owner, request);
      assertThat(first.lastEvent().type()).isEqualTo(CmEvent.Type.ESTABLISHED);
      second.connect(net.owner, request);
      assertThat(rejection(second)).isEqualTo(Reason.CREDENTIAL);
    }
  }

  @Test
  void aWrongProofIsRefusedAndClosed() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      peer.connect(net.owner, Network.TICKET);
      MutualChallenge impostor = readerSide("guess".getBytes(StandardCharsets.US_ASCII));
      peer.send(1, impostor.hello());
      assertThat(impostor.isAuthentic((Reply.Challenge) peer.lastReply())).isFalse();
      peer.send(2, impostor.prove());
      assertThat(peer.lastReply()).isEqualTo(new Reply.Refused("the proof is wrong"));
      assertThat(peer.lastEvent().type()).isEqualTo(CmEvent.Type.DISCONNECTED);
      assertThat(net.owner.acceptor.sessions).isEmpty();
      assertThat(net.owner.budget.usedBytes()).isZero();
    }
  }

  @Test
  void theOwnersOwnCodeIsNoProof() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      peer.connect(net.owner, Network.TICKET);
      peer.send(1, readerSide(Network.SECRET).hello());
      peer.send(2, new Request.Prove(((Reply.Challenge) peer.lastReply()).mac()));
      assertThat(peer.lastReply()).isInstanceOf(Reply.Refused.class);
      assertThat(net.owner.acceptor.sessions).isEmpty();
    }
  }

  @Test
  void aHelloOfAnotherVersionIsRefusedWithBothVersions() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      peer.connect(net.owner, Network.TICKET);
      peer.send(1, new Request.Hello(3, READER_NONCE));
      assertThat(((Reply.Refused) peer.lastReply()).text())
          .isEqualTo("protocol version 3, this side speaks 2");
    }
  }

  @Test
  void aLocateBeforeTheProofClosesWithoutAnAnswer() throws Exception {
    closesWithoutAnAnswerBeforeTheProof(Messages.locate(1));
  }

  @Test
  void leasesReleasedBeforeTheProofCloseWithoutAnAnswer() throws Exception {
    closesWithoutAnAnswerBeforeTheProof(new Request.Release(new long[] {1}));
  }

  private static void closesWithoutAnAnswerBeforeTheProof(Request request) throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      peer.connect(net.owner, Network.TICKET);
      peer.send(1, readerSide(Network.SECRET).hello());
      int answers = peer.received.size();
      peer.send(2, request);
      assertThat(peer.received).hasSize(answers);
      assertThat(peer.lastEvent().type()).isEqualTo(CmEvent.Type.DISCONNECTED);
      assertThat(net.owner.count(Counter.FRAMES_REJECTED)).isEqualTo(1);
      assertThat(net.owner.acceptor.sessions).isEmpty();
    }
  }

  @Test
  void remoteReadsWorkFromTheWelcomeOnAndNotBefore() throws Exception {
    try (Network net = new Network();
        RegisteredMemory region = net.owner.register(4096, Access.REMOTE_READ)) {
      try (RawPeer early = new RawPeer(net)) {
        early.connect(net.owner, Network.TICKET);
        early.send(1, readerSide(Network.SECRET).hello());
        assertThat(early.read(region.address(), region.rkey(), 100)).isNotEqualTo(WcStatus.SUCCESS);
      }
      net.owner.credentials.addJob(5, Network.SECRET);
      try (RawPeer proper = new RawPeer(net)) {
        proper.connect(net.owner, 5);
        MutualChallenge challenge =
            new MutualChallenge(new Hmac(), 5, Network.SECRET, READER_NONCE);
        proper.send(1, challenge.hello());
        assertThat(challenge.isAuthentic((Reply.Challenge) proper.lastReply())).isTrue();
        proper.send(2, challenge.prove());
        assertThat(proper.lastReply()).isEqualTo(new Reply.Welcome(5000));
        assertThat(proper.read(region.address(), region.rkey(), 100)).isEqualTo(WcStatus.SUCCESS);
      }
      net.settle();
    }
  }

  @Test
  void keepAlivesBetweenHelloAndProofAreAnswered() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      peer.connect(net.owner, Network.TICKET);
      MutualChallenge challenge = readerSide(Network.SECRET);
      peer.send(1, challenge.hello());
      assertThat(challenge.isAuthentic((Reply.Challenge) peer.lastReply())).isTrue();
      peer.send(2, KeepAlive.MESSAGE);
      assertThat(peer.lastReply()).isEqualTo(new Reply.Released());
      peer.send(3, challenge.prove());
      assertThat(peer.lastReply()).isEqualTo(new Reply.Welcome(5000));
    }
  }

  @Test
  void aKeepAliveBeforeTheHelloClosesWithoutAnAnswer() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      peer.connect(net.owner, Network.TICKET);
      peer.send(1, KeepAlive.MESSAGE);
      assertThat(peer.received).isEmpty();
      assertThat(peer.lastEvent().type()).isEqualTo(CmEvent.Type.DISCONNECTED);
    }
  }

  @Test
  void aHelloWithoutAnAnswerIsFollowedByAMessageASecond() throws Exception {
    try (Network net = new Network();
        RawPeer owner = new RawPeer(net)) {
      Dialer.Target target =
          new Dialer.Target("owner", owner.listen(), Network.TICKET, Network.SECRET);
      net.reader.core.dialer().dial(target, new RecordingListener());
      owner.accept();
      net.pass(Duration.ofMillis(900));
      owner.look();
      assertThat(owner.received).hasSize(1);
      net.pass(Duration.ofMillis(200));
      owner.look();
      assertThat(owner.received).hasSize(2);
      assertThat(((Request.Release) owner.lastRequest()).leases()).isEmpty();
      net.pass(Duration.ofSeconds(1));
      owner.look();
      assertThat(owner.received).hasSize(3);
    }
  }

  @Test
  void aHelloThatArrivesWithTheMessageBehindItOpensTheConnection() throws Exception {
    try (Network net = new Network()) {
      RequestFaults faults = net.fabric.faults().sendsFrom(net.reader.device.address());
      faults.delay(1, Duration.ofMillis(1_500).toNanos());
      RecordingListener listener =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      net.pass(Duration.ofMillis(1_400));
      assertThat(listener.heard).isEmpty();
      net.pass(Duration.ofMillis(200));
      assertThat(listener.heard).containsExactly("open");
      assertThat(listener.channel.keepAliveNs()).isEqualTo(Duration.ofSeconds(5).toNanos());
      net.pass(Duration.ofSeconds(20));
      assertThat(listener.heard).containsExactly("open");
    }
  }

  @Test
  void whoNeverProvesItselfIsClosedAtTheDeadline() throws Exception {
    try (Network net = new Network();
        RawPeer peer = new RawPeer(net)) {
      peer.connect(net.owner, Network.TICKET);
      net.pass(Duration.ofMillis(4_900));
      assertThat(net.owner.core.limits().inUse()).isEqualTo(1);
      net.pass(Duration.ofMillis(200));
      assertThat(net.owner.core.limits().inUse()).isZero();
    }
  }

  @Test
  void anOwnerWithoutTheSecretGetsNoProof() throws Exception {
    try (Network net = new Network();
        RawPeer impostor = new RawPeer(net)) {
      RecordingListener listener = new RecordingListener();
      Dialer.Target target =
          new Dialer.Target("impostor", impostor.listen(), Network.TICKET, Network.SECRET);
      net.reader.core.dialer().dial(target, listener);
      impostor.accept();
      assertThat(impostor.lastRequest()).isInstanceOf(Request.Hello.class);
      impostor.send(impostor.codec.requestId(), new Reply.Challenge(new byte[16], new byte[32]));
      assertThat(listener.heard).containsExactly("dial failed");
      assertThat(listener.onlyCause()).hasMessage("impostor does not know the secret");
      assertThat(impostor.received).hasSize(1);
    }
  }

  @Test
  void anOwnerThatAnswersSomethingElseIsClosed() throws Exception {
    try (Network net = new Network();
        RawPeer impostor = new RawPeer(net)) {
      RecordingListener listener = new RecordingListener();
      Dialer.Target target =
          new Dialer.Target("impostor", impostor.listen(), Network.TICKET, Network.SECRET);
      net.reader.core.dialer().dial(target, listener);
      impostor.accept();
      impostor.lastRequest();
      impostor.send(impostor.codec.requestId(), new Reply.Welcome(1));
      assertThat(listener.onlyCause()).hasMessageContaining("Welcome does not answer Hello");
      assertThat(net.reader.count(Counter.FRAMES_REJECTED)).isEqualTo(1);
    }
  }
}
