package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.CmEvent.Type;
import io.rdmashuffle.transport.verbs.RigEnd.Completion;
import io.rdmashuffle.transport.verbs.RigEnd.Port;
import java.util.List;
import org.junit.jupiter.api.Test;

/** SEND and RECV. */
public interface MessageContract extends RigTest {
  @Test
  default void messagesArriveInOrderWithTheirLengths() throws Exception {
    int count = 20;
    RigPair pair = rig().connectWithoutRights();
    RigMemory from = rig().memory(rig().client(), 4096, Access.LOCAL_READ);
    RigMemory into = rig().memory(rig().server(), count * 64, Access.LOCAL_WRITE);
    for (int i = 0; i < count; i++) {
      receive(pair.server(), 100 + i, into, i * 64, 64);
    }

    for (int i = 0; i < count; i++) {
      send(pair.client(), i, from, i, i + 1);
    }

    List<Completion> received = rig().server().completions(count);
    for (int i = 0; i < count; i++) {
      assertThat(received.get(i))
          .isEqualTo(
              new Completion(100 + i, WcStatus.SUCCESS, i + 1, pair.server().queuePair().number()));
      assertThat(into.bytes(i * 64, i + 1)).isEqualTo(from.bytes(i, i + 1));
    }
    assertThat(rig().client().completions(count))
        .extracting(Completion::wrId)
        .isSorted()
        .doesNotHaveDuplicates();
  }

  @Test
  default void receivePostedBeforeTheConnectionIsUsed() throws Exception {
    Port active = rig().readyToConnect(rig().serverAddress());
    RigMemory from = rig().memory(rig().client(), 64, Access.LOCAL_READ);
    RigMemory into = rig().memory(rig().server(), 64, Access.LOCAL_WRITE);
    active.id().connect(new byte[0]);
    CmId request = rig().request().id();
    Port passive = new Port(rig().server(), request, rig().server().queuePair(request));

    receive(passive, 3, into, 0, 64);
    request.accept(new byte[0]);
    rig().client().expect(active.id(), Type.ESTABLISHED);
    send(active, 4, from, 0, 64);

    assertThat(rig().server().completion().wrId()).isEqualTo(3);
    assertThat(into.bytes()).isEqualTo(from.bytes());
  }

  @Test
  default void answerGoesTheOtherWay() throws Exception {
    RigPair pair = rig().connectWithoutRights();
    RigMemory mine = rig().memory(rig().client(), 128, Access.LOCAL_WRITE);
    RigMemory theirs = rig().memory(rig().server(), 128, Access.LOCAL_WRITE);
    receive(pair.client(), 1, mine, 64, 64);
    receive(pair.server(), 2, theirs, 64, 64);

    send(pair.client(), 3, mine, 0, 64);
    rig().server().completion();
    send(pair.server(), 4, theirs, 0, 64);

    assertThat(rig().client().completions(2))
        .extracting(Completion::status)
        .containsOnly(WcStatus.SUCCESS);
    assertThat(mine.bytes(64, 64)).isEqualTo(theirs.bytes(0, 64));
  }

  @Test
  default void messageLongerThanItsReceiveFailsAtBothEnds() throws Exception {
    RigPair pair = rig().connectWithoutRights();
    RigMemory from = rig().memory(rig().client(), 128, Access.LOCAL_READ);
    RigMemory into = rig().memory(rig().server(), 128, Access.LOCAL_WRITE);
    into.fill((byte) 0);
    receive(pair.server(), 1, into, 0, 63);

    send(pair.client(), 2, from, 0, 64);

    assertThat(rig().server().completion().status())
        .isNotIn(WcStatus.SUCCESS, WcStatus.WR_FLUSH_ERR);
    WcStatus atTheSender = rig().client().completion().status();
    if (rig().traits().sendsAreAcknowledged()) {
      assertThat(atTheSender).isNotIn(WcStatus.SUCCESS, WcStatus.WR_FLUSH_ERR);
    } else {
      assertThat(atTheSender).isEqualTo(WcStatus.SUCCESS);
    }
    assertThat(into.bytes(63, 65)).containsOnly(0);
  }

  @Test
  default void sendAndReadShareAQueueInOrder() throws Exception {
    RigPair pair = rig().connect();
    RigMemory message = rig().memory(rig().client(), 64, Access.LOCAL_READ);
    RigMemory into = rig().memory(rig().server(), 64, Access.LOCAL_WRITE);
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    receive(pair.server(), 9, into, 0, 64);

    pair.postRead(1, source, sink, 4096);
    send(pair.client(), 2, message, 0, 64);
    pair.postRead(3, source, sink, 4096);

    List<Long> completed = rig().client().completions(3).stream().map(Completion::wrId).toList();
    if (rig().traits().completesInOrder()) {
      assertThat(completed).containsExactly(1L, 2L, 3L);
    } else {
      assertThat(completed).containsExactlyInAnyOrder(1L, 2L, 3L).containsSubsequence(1L, 3L);
    }
    assertThat(rig().server().completion().bytes()).isEqualTo(64);
  }

  @Test
  default void queuePairsOfOneCompletionQueueKeepTheirMessagesApart() throws Exception {
    RigPair first = rig().connectWithoutRights();
    RigPair second = rig().connectWithoutRights();
    RigMemory from = rig().memory(rig().client(), 128, Access.LOCAL_READ);
    RigMemory into = rig().memory(rig().server(), 128, Access.LOCAL_WRITE);
    receive(first.server(), 1, into, 0, 64);
    receive(second.server(), 2, into, 64, 64);

    send(second.client(), 4, from, 64, 64);
    Completion ofSecond = rig().server().completion();
    send(first.client(), 3, from, 0, 32);
    Completion ofFirst = rig().server().completion();

    assertThat(ofSecond)
        .isEqualTo(new Completion(2, WcStatus.SUCCESS, 64, second.server().queuePair().number()));
    assertThat(ofFirst)
        .isEqualTo(new Completion(1, WcStatus.SUCCESS, 32, first.server().queuePair().number()));
  }

  @Test
  default void peerThatGoesAwayFlushesReceives() throws Exception {
    RigPair pair = rig().connectWithoutRights();
    RigMemory into = rig().memory(rig().server(), 64, Access.LOCAL_WRITE);
    receive(pair.server(), 1, into, 0, 64);

    pair.client().id().close();
    rig().server().expect(pair.server().id(), Type.DISCONNECTED);
    pair.server().queuePair().toError();

    assertThat(rig().server().completion().status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
  }

  private static void receive(Port port, long wrId, RigMemory into, int offset, int bytes)
      throws VerbsException {
    port.queuePair()
        .postReceive(wrId, into.region().address() + offset, bytes, into.region().lkey());
  }

  private static void send(Port port, long wrId, RigMemory from, int offset, int bytes)
      throws VerbsException {
    port.queuePair().postSend(wrId, from.region().address() + offset, bytes, from.region().lkey());
  }
}
