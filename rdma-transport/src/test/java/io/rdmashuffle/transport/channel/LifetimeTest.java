package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.wire.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long connections last, and how many there may be. */
final class LifetimeTest {
  private static final long SECOND = 1_000_000_000;

  private static ChannelSettings connections(int most) {
    ChannelSettings d = ChannelSettings.defaults();
    return new ChannelSettings(
        d.requestsInFlight(),
        d.readsInFlight(),
        most,
        d.connectTimeout(),
        d.requestTimeout(),
        d.keepAlive(),
        d.idleTimeout(),
        d.spin());
  }

  @Test
  void aSilentReaderSendsKeepAlives() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      net.pass(Duration.ofSeconds(62));
      List<Request> requests = net.owner.acceptor.only().requests;
      assertThat(requests).hasSizeBetween(11, 13);
      assertThat(requests).allMatch(r -> ((Request.Release) r).leases().length == 0);
      assertThat(listener.heard).containsExactly("open");
      assertThat(listener.channel.requestCredits()).isEqualTo(16);
    }
  }

  @Test
  void aBusyReaderSendsNone() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      for (int i = 0; i < 20; i++) {
        listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler());
        net.pass(Duration.ofSeconds(3));
      }
      assertThat(net.owner.acceptor.only().requests)
          .hasSize(20)
          .allMatch(r -> r instanceof Request.Locate);
    }
  }

  @Test
  void keepAlivesDoNotTakeTheCallersCredits() throws Exception {
    try (Network net = new Network()) {
      net.owner.acceptor.answer =
          r -> r instanceof Request.Locate ? null : RecordingAcceptor.plainAnswer(r);
      RecordingListener listener = net.connect();
      for (int i = 0; i < 16; i++) {
        listener.channel.request(Messages.locate(1), 60 * SECOND, listener.replyHandler());
      }
      net.pass(Duration.ofSeconds(30));
      assertThat(listener.heard).containsExactly("open");
      assertThat(net.owner.acceptor.only().closed).isEmpty();
    }
  }

  @Test
  void anUnusedConnectionIsClosedByTheReader() throws Exception {
    try (Network net = new Network()) {
      RecordingListener listener = net.connect();
      net.pass(Duration.ofMinutes(5).minusSeconds(10));
      assertThat(listener.heard).containsExactly("open");
      net.pass(Duration.ofSeconds(20));
      assertThat(listener.heard).containsExactly("open", "closed");
      assertThat(listener.onlyCause().kind()).isEqualTo(Kind.RETRY);
      assertThat(net.owner.acceptor.only().closed).hasSize(1);
      assertThat(net.owner.core.limits().inUse()).isZero();
    }
  }

  @Test
  void theOwnerEndsTheSessionOfAReaderThatIsGone() throws Exception {
    try (Network net = new Network()) {
      net.connect();
      net.nodes.remove(net.reader); // its process hangs
      net.pass(Duration.ofMillis(14_900));
      assertThat(net.owner.acceptor.only().closed).isEmpty();
      net.pass(Duration.ofMillis(200));
      assertThat(net.owner.acceptor.only().closed.get(0))
          .hasMessageContaining("heard nothing from")
          .hasMessageContaining("15000 ms");
      assertThat(net.owner.count(Counter.SESSIONS_EXPIRED)).isEqualTo(1);
      net.nodes.add(net.reader);
    }
  }

  @Test
  void aReaderThatIsServedNoMoreIsToldWhyAndClosed() throws Exception {
    try (Network net = new Network()) {
      net.owner.acceptor.answer = r -> null;
      RecordingListener listener = net.connect();
      listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler());
      net.settle();

      var session = net.owner.acceptor.only();
      session.channel.refuse(session.requestIds.get(0), "it is too greedy");
      net.settle();

      assertThat(listener.heard).containsExactly("open", "reply failed", "closed");
      assertThat(listener.onlyCause()).hasMessageContaining("refused: it is too greedy");
      assertThat(session.closed).hasSize(1);
      assertThat(net.owner.count(Counter.CONNECTIONS_LIVE)).isZero();
      assertThat(net.owner.count(Counter.CONNECTIONS_FAILED)).as("it was open").isZero();
    }
  }

  @Test
  void atTheOwnersCapANewPeerIsToldSo() throws Exception {
    try (Network net = new Network(connections(2))) {
      RecordingListener first = net.connect();
      assertThat(net.connect(78).heard).containsExactly("open");
      Node another = net.addNode(net.settings);
      net.owner.credentials.addTicket(79, Network.SECRET);
      RecordingListener refused = net.dial(another, net.owner.target(79, Network.SECRET));
      assertThat(refused.heard).containsExactly("dial failed");
      assertThat(refused.onlyCause()).isInstanceOf(ConnectionCapException.class);
      assertThat(refused.onlyCause().kind()).isEqualTo(Kind.RETRY);
      assertThat(net.owner.credentials.isSpent(79)).isFalse();
      assertThat(first.heard).as("young ones stay").containsExactly("open");
    }
  }

  @Test
  void atTheCapTheOldestIdleConnectionMakesRoom() throws Exception {
    try (Network net = new Network(connections(2))) {
      RecordingListener busy = net.connect();
      RecordingListener idle = net.connect(78);
      for (int i = 0; i < 6; i++) {
        busy.channel.request(Messages.locate(1), SECOND, busy.replyHandler());
        net.pass(Duration.ofSeconds(2));
      }
      RecordingListener refused = net.connect(79);
      assertThat(refused.onlyCause())
          .isInstanceOf(ConnectionCapException.class)
          .hasMessageContaining("2 of 2 connections");
      assertThat(idle.heard).containsExactly("open", "closed");
      assertThat(busy.heard).doesNotContain("closed");
      assertThat(net.connect(80).heard).containsExactly("open");
    }
  }

  @Test
  void whoeverTakesAllItCanGetLeavesRoomForOthers() throws Exception {
    try (Network net = new Network(connections(64))) {
      net.connect();
      int greedy = 1;
      for (long ticket = 1000; net.connect(ticket).channel != null; ticket++) {
        greedy++;
      }
      assertThat(greedy).isEqualTo(32);

      Node other = net.addNode(net.settings);
      for (long ticket = 2000; ticket < 2016; ticket++) {
        net.owner.credentials.addTicket(ticket, Network.SECRET);
        assertThat(net.dial(other, net.owner.target(ticket, Network.SECRET)).heard)
            .containsExactly("open");
      }
    }
  }

  @Test
  void whoHasItsPartGivesUpAnIdleOneOfItsOwn() throws Exception {
    try (Network net = new Network(connections(8))) {
      Node other = net.addNode(net.settings);
      net.owner.credentials.addTicket(2000, Network.SECRET);
      RecordingListener others = net.dial(other, net.owner.target(2000, Network.SECRET));
      net.pass(Duration.ofSeconds(1));
      List<RecordingListener> own = new ArrayList<>(List.of(net.connect()));
      for (long ticket = 1000; own.get(own.size() - 1).channel != null; ticket++) {
        own.add(net.connect(ticket));
      }
      net.pass(Duration.ofSeconds(12)); // the other's is idle for longest

      net.connect(1100);

      assertThat(others.heard).containsExactly("open");
      assertThat(own.get(0).heard).containsExactly("open", "closed");
      assertThat(net.connect(1101).heard).containsExactly("open");
    }
  }

  @Test
  void withoutRoomInTheCompletionQueueThereIsNoConnection() throws Exception {
    try (Network net = new Network(connections(1000))) {
      List<RecordingListener> open = new ArrayList<>();
      RecordingListener last = net.connect();
      for (long ticket = 1000; last.channel != null; ticket++) {
        open.add(last);
        last = net.connect(ticket);
      }
      assertThat(open).hasSizeBetween(100, 999);
      assertThat(last.onlyCause())
          .isInstanceOf(ConnectionCapException.class)
          .hasMessageContaining("of 32768 completion queue entries");
    }
  }

  @Test
  void withoutMemoryForFramesTheOwnerSaysThatItIsFull() throws Exception {
    try (Network net = new Network()) {
      long all = net.owner.budget.limitBytes();
      assertThat(net.owner.budget.tryReserve(Use.WINDOWS, all)).isTrue();
      RecordingListener listener =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      assertThat(listener.onlyCause()).isInstanceOf(ConnectionCapException.class);
      net.owner.budget.release(Use.WINDOWS, all);
    }
  }

  @Test
  void withoutMemoryForFramesTheReaderDoesNotDial() throws Exception {
    try (Network net = new Network()) {
      long all = net.reader.budget.limitBytes();
      assertThat(net.reader.budget.tryReserve(Use.READER_POOL, all)).isTrue();
      RecordingListener listener =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      assertThat(listener.onlyCause().kind()).isEqualTo(Kind.RETRY);
      assertThat(listener.onlyCause()).hasMessageContaining("MESSAGES");
      net.reader.budget.release(Use.READER_POOL, all);
    }
  }

  @Test
  void whatTheAdapterReportsIsPassedOn() throws Exception {
    try (Network net = new Network()) {
      List<AsyncEvent.Type> heard = new ArrayList<>();
      net.reader.core.deviceWatch().add(event -> heard.add(event.type()));
      RecordingListener listener = net.connect();
      net.fabric.raise(net.reader.device.address(), new AsyncEvent(AsyncEvent.Type.PORT_DOWN, 10));
      net.pass(Duration.ofMillis(300));
      assertThat(heard).containsExactly(AsyncEvent.Type.PORT_DOWN);
      assertThat(listener.heard).containsExactly("open");
      net.fabric.raise(
          net.reader.device.address(), new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, 8));
      net.pass(Duration.ofMillis(300));
      assertThat(heard).endsWith(AsyncEvent.Type.DEVICE_FATAL);
      assertThat(listener.heard).containsExactly("open", "closed");
    }
  }

  @Test
  void afterShutDownDialsFailAndReadersAreRejected() throws Exception {
    try (Network net = new Network()) {
      var ownerDone = net.owner.core.shutDown();
      RecordingListener toStopped =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      assertThat(toStopped.heard).containsExactly("dial failed");
      var readerDone = net.reader.core.shutDown();
      RecordingListener fromStopped =
          net.dial(net.reader, net.owner.target(Network.TICKET, Network.SECRET));
      assertThat(fromStopped.onlyCause()).hasMessageContaining("this side is stopping");
      assertThat(ownerDone).isDone();
      assertThat(readerDone).isDone();
    }
  }

  @Test
  void closingTellsThoseWhoWaitBeforeItIsDone() throws Exception {
    RecordingListener listener;
    Network net = new Network();
    try (net) {
      net.owner.acceptor.answer = r -> null;
      listener = net.connect();
      listener.channel.request(Messages.locate(1), SECOND, listener.replyHandler());
    }
    assertThat(listener.heard).containsExactly("open", "reply failed", "closed");
    assertThat(net.owner.acceptor.only().closed).hasSize(1);
  }
}
