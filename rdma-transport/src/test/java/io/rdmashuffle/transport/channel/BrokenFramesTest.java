package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireLimits;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A frame that breaks the protocol ends its connection, is counted, and disturbs nobody else. */
final class BrokenFramesTest {
  private static final long JOB = 5;
  private long nextNonce = 1;

  private RawPeer authenticated(Network net) throws TransportException {
    RawPeer peer = new RawPeer(net);
    byte[] nonce = Messages.nonce(nextNonce++);
    peer.connect(net.owner, ConnectRequest.create(new Hmac(), JOB, Network.SECRET, nonce).encode());
    MutualChallenge challenge = new MutualChallenge(new Hmac(), JOB, Network.SECRET, nonce);
    peer.send(1, challenge.hello());
    assertThat(challenge.isAuthentic((Reply.Challenge) peer.lastReply())).isTrue();
    peer.send(2, challenge.prove());
    assertThat(peer.lastReply()).isInstanceOf(Reply.Welcome.class);
    return peer;
  }

  private void breaksOnlyItself(byte[] frame, String what) throws TransportException {
    try (Network net = new Network()) {
      net.owner.credentials.addJob(JOB, Network.SECRET);
      RecordingListener other = net.connect();
      try (RawPeer peer = authenticated(net)) {
        RecordingAcceptor.RecordingSession session = net.owner.acceptor.sessions.get(1);
        peer.send(frame);
        assertThat(peer.lastEvent().type()).as(what).isEqualTo(CmEvent.Type.DISCONNECTED);
        assertThat(session.requests).as(what).isEmpty();
        assertThat(session.closed).as(what).hasSize(1);
        assertThat(net.owner.count(Counter.FRAMES_REJECTED)).as(what).isEqualTo(1);
      }
      other.channel.request(Messages.locate(1), 1_000_000, other.replyHandler());
      net.settle();
      assertThat(other.heard).as(what).containsExactly("open", "reply");
    }
  }

  @Test
  void framesCutAtAnyByteCloseTheConnection() throws Exception {
    byte[] whole = Messages.frame(3, Messages.locate(2));
    for (int length = 1; length < whole.length; length++) {
      breaksOnlyItself(Arrays.copyOf(whole, length), "cut at " + length);
    }
  }

  @Test
  void aFrameLongerThanAReceiveClosesTheConnection() throws Exception {
    breaksOnlyItself(new byte[WireLimits.FRAME_BYTES + 1], "too long");
  }

  @Test
  void aFrameOfAnotherVersionClosesTheConnection() throws Exception {
    byte[] frame = Messages.frame(3, Messages.locate(1));
    frame[1] = (byte) (WireLimits.VERSION + 1);
    breaksOnlyItself(frame, "another version");
  }

  @Test
  void messagesOutOfTheirTurnCloseTheConnection() throws Exception {
    breaksOnlyItself(Messages.frame(3, new Request.Hello(1, new byte[16])), "second hello");
    breaksOnlyItself(Messages.frame(3, new Request.Prove(new byte[32])), "second proof");
  }

  @Test
  void moreRequestsThanCreditsCloseTheConnection() throws Exception {
    try (Network net = new Network()) {
      net.owner.credentials.addJob(JOB, Network.SECRET);
      net.owner.acceptor.answer = request -> null;
      try (RawPeer peer = authenticated(net)) {
        for (int i = 0; i < 17; i++) {
          peer.send(100 + i, Messages.locate(1));
        }
        assertThat(net.owner.acceptor.only().closed).isEmpty();
        peer.send(200, Messages.locate(1));
        assertThat(net.owner.acceptor.only().closed).hasSize(1);
        assertThat(net.owner.acceptor.only().requests).hasSize(17);
        assertThat(net.owner.count(Counter.FRAMES_REJECTED)).isEqualTo(1);
      }
    }
  }

  @Test
  void anIdThatIsStillOpenClosesTheConnection() throws Exception {
    try (Network net = new Network()) {
      net.owner.credentials.addJob(JOB, Network.SECRET);
      net.owner.acceptor.answer = request -> null;
      try (RawPeer peer = authenticated(net)) {
        peer.send(100, Messages.locate(1));
        peer.send(100, Messages.locate(1));
        assertThat(net.owner.acceptor.only().closed.get(0)).hasMessageContaining("twice");
      }
    }
  }
}
