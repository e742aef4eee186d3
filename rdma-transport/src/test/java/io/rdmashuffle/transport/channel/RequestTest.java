package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.testing.LoggedLines;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class RequestTest {
  private static final long SECOND = 1_000_000_000;

  @Test
  void eachRequestGetsItsOwnReplyAndItsCreditBack() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      ReaderChannel channel = listener.channel;
      for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 16; i++) {
          channel.request(Messages.locate(i + 1), SECOND, listener.replyHandler());
        }
        assertThat(channel.requestCredits()).isZero();
        net.settle();
        assertThat(channel.requestCredits()).isEqualTo(16);
      }
      assertThat(listener.replies).hasSize(80);
      for (int i = 0; i < 80; i++) {
        assertThat(((Reply.Located) listener.replies.get(i)).answers()).hasSize(i % 16 + 1);
      }
    }
  }

  @Test
  void aRequestWithoutACreditIsTheCallersBug() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      for (int i = 0; i < 16; i++) {
        listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler());
      }
      assertThatThrownBy(
              () -> listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler()))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aRequestThatFitsNoFrameTakesNoCredit() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      assertThatThrownBy(
              () -> listener.channel.request(Messages.locate(257), SECOND, listener.replyHandler()))
          .isInstanceOf(IllegalArgumentException.class);
      assertThat(listener.channel.requestCredits()).isEqualTo(16);
      listener.channel.request(Messages.locate(256), SECOND, listener.replyHandler());
      net.settle();
      assertThat(listener.heard).containsExactly("open", "reply");
    }
  }

  @Test
  void repliesMayComeLateAndInAnyOrder() throws Exception {
    long seed = 7;
    try (Network net = new Network()) {
      net.fabric.shuffleQueuePairs(seed);
      net.owner.acceptor.answer = request -> null;
      RecordingListener listener = net.connect();
      for (int i = 0; i < 16; i++) {
        listener.channel.request(Messages.locate(i + 1), SECOND, listener.replyHandler());
      }
      net.settle();
      RecordingAcceptor.RecordingSession session = net.owner.acceptor.only();
      List<Integer> order = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        order.add(i);
      }
      Collections.shuffle(order, new Random(seed));
      for (int i : order) {
        Reply reply = RecordingAcceptor.plainAnswer(session.requests.get(i));
        session.channel.reply(session.requestIds.get(i), reply);
        net.settle();
      }
      for (int i = 0; i < 16; i++) {
        Reply.Located located = (Reply.Located) listener.replies.get(i);
        assertThat(located.answers()).hasSize(order.get(i) + 1);
      }
    }
  }

  @Test
  void aMissedDeadlineClosesAndHandlersHearOnceTheQueuePairIsGone() throws Exception {
    try (Network net = new Network()) {
      net.owner.acceptor.answer = request -> null;
      RecordingListener listener = net.connect();
      listener.channel.request(Messages.locate(1), 2 * SECOND, listener.replyHandler());
      listener.channel.request(Messages.locate(1), 20 * SECOND, listener.replyHandler());
      net.pass(Duration.ofMillis(1_900));
      assertThat(listener.heard).containsExactly("open");
      net.reader.stickSlowPool();
      net.pass(Duration.ofMillis(200));
      assertThat(listener.channel.requestCredits()).isZero();
      assertThat(listener.channel.readCredits()).isZero();
      assertThat(listener.heard).as("the queue pair still exists").containsExactly("open");
      net.reader.freeSlowPool();
      net.settle();
      assertThat(listener.heard).containsExactly("open", "reply failed", "reply failed", "closed");
      assertThat(listener.onlyCause()).hasMessage("no reply in time from fake0");
      assertThat(listener.onlyCause().kind()).isEqualTo(Kind.PEER_LOST);
    }
  }

  @Test
  void aReplyAfterTheDeadlineDoesNoHarm() throws Exception {
    try (Network net = new Network()) {
      net.owner.acceptor.answer = request -> null;
      RecordingListener listener = net.connect();
      listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler());
      net.settle();
      RecordingAcceptor.RecordingSession session = net.owner.acceptor.only();
      net.reader.stickSlowPool();
      net.pass(Duration.ofMillis(1_100));
      session.channel.reply(
          session.requestIds.get(0), RecordingAcceptor.plainAnswer(session.requests.get(0)));
      net.settle();
      net.reader.freeSlowPool();
      net.settle();
      assertThat(listener.heard).containsExactly("open", "reply failed", "closed");
    }
  }

  @Test
  void theSessionsEndReachesTheReader() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      OwnerChannel channel = net.owner.acceptor.only().channel;
      channel.close(new TransportException(Kind.RETRY, "revoked"));
      net.settle();
      assertThat(listener.heard).containsExactly("open", "closed");
      assertThat(listener.onlyCause().kind()).isEqualTo(Kind.PEER_LOST);
      assertThat(net.owner.acceptor.only().closed.get(0)).hasMessage("revoked");
      channel.reply(12345, new Reply.Released()); // dropped silently
    }
  }

  @Test
  void theReadersEndReachesTheSession() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler());
      listener.channel.close(new TransportException(Kind.RETRY, "enough"));
      listener.channel.close(new TransportException(Kind.RETRY, "twice"));
      net.settle();
      assertThat(listener.heard).containsExactly("open", "reply failed", "closed");
      assertThat(listener.onlyCause()).hasMessage("enough");
      assertThat(net.owner.acceptor.only().closed).hasSize(1);
      assertThat(net.owner.count(Counter.CONNECTIONS_LIVE)).isZero();
      assertThat(net.reader.count(Counter.CONNECTIONS_LIVE)).isZero();
    }
  }

  @Test
  void aThrowingSessionEndsItsConnectionAndIsLoggedOnceAMinute() throws Exception {
    try (Network net = new Network();
        LoggedLines logged = new LoggedLines()) {
      net.owner.acceptor.answer =
          request -> {
            throw new IllegalStateException("bug in a session");
          };
      RecordingListener listener = net.connect();
      listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler());
      net.settle();
      assertThat(listener.heard).containsExactly("open", "reply failed", "closed");
      assertThat(net.owner.acceptor.only().closed.get(0).kind()).isEqualTo(Kind.BUG);

      for (int i = 0; i < 50; i++) { // its reader comes again with what causes it
        RecordingListener again = net.connect(100 + i);
        again.channel.request(Messages.locate(1), SECOND, again.replyHandler());
        net.settle();
        assertThat(again.heard).containsExactly("open", "reply failed", "closed");
      }
      assertThat(logged.with("IllegalStateException: bug in a session")).hasSize(1);
    }
  }

  @Test
  void aReplyThatFitsNoFrameEndsItsConnection() throws Exception {
    try (Network net = new Network()) {
      Reply.Answer large = new Reply.Inline(0, new byte[4000]);
      net.owner.acceptor.answer = r -> new Reply.Located(1, Collections.nCopies(3, large));
      RecordingListener listener = net.connect();
      listener.channel.request(Messages.locate(3), SECOND, listener.replyHandler());
      net.settle();
      assertThat(listener.heard).containsExactly("open", "reply failed", "closed");
      assertThat(net.owner.acceptor.only().closed.get(0)).hasMessageContaining("does not fit");
    }
  }

  @Test
  void anOwnerThatAnswersMoreThanWasAskedIsClosed() throws Exception {
    try (Network net = new Network()) {
      net.owner.acceptor.answer = r -> RecordingAcceptor.plainAnswer(Messages.locate(3));
      RecordingListener listener = net.connect();
      listener.channel.request(Messages.locate(2), SECOND, listener.replyHandler());
      net.settle();
      assertThat(listener.heard).containsExactly("open", "reply failed", "closed");
      assertThat(listener.onlyCause()).hasMessageContaining("Located does not answer Locate");
    }
  }

  @Test
  void aThrowingHandlerEndsItsConnectionAndTheOthersAreTold() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      ReaderChannel.ReplyHandler throwing =
          new ReaderChannel.ReplyHandler() {
            @Override
            public void onReply(Reply reply) {
              throw new IllegalStateException("bug in a handler");
            }

            @Override
            public void onFailed(TransportException cause) {
              throw new IllegalStateException("bug in a handler");
            }
          };
      listener.channel.request(Messages.locate(1), SECOND, throwing);
      listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler());
      net.settle();
      assertThat(listener.heard).containsExactly("open", "reply", "closed");

      RecordingListener next = net.connect(78);
      next.channel.request(Messages.locate(1), SECOND, throwing);
      next.channel.request(Messages.locate(1), SECOND, next.replyHandler());
      next.channel.close(new TransportException(Kind.RETRY, "enough"));
      net.pass(Duration.ofMillis(100));
      assertThat(next.heard).containsExactly("open", "reply failed", "closed");
    }
  }

  @Test
  void aSmallerOwnerSetsTheCredits() throws Exception {
    try (Network net = new Network()) {
      ChannelSettings d = net.settings;
      Node small =
          net.addNode(
              new ChannelSettings(
                  3,
                  d.readsInFlight(),
                  d.maxConnections(),
                  d.connectTimeout(),
                  d.requestTimeout(),
                  d.keepAlive(),
                  d.idleTimeout(),
                  d.spin()));
      small.listen();
      small.credentials.addTicket(1, Network.SECRET);
      RecordingListener listener = net.dial(net.reader, small.target(1, Network.SECRET));
      assertThat(listener.channel.requestCredits()).isEqualTo(3);
      for (int i = 0; i < 3; i++) {
        listener.channel.request(new Request.Release(new long[0]), SECOND, listener.replyHandler());
      }
      net.settle();
      assertThat(listener.replies).hasSize(3);
    }
  }
}
