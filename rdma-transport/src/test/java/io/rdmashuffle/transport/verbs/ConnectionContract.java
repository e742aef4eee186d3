package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.verbs.CmEvent.Type;
import io.rdmashuffle.transport.verbs.RigEnd.Port;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Connecting, refusing, parting. */
public interface ConnectionContract extends RigTest {
  @Test
  default void connectAndAcceptCarryPrivateData() throws Exception {
    byte[] asked = randomBytes(56);
    byte[] answered = randomBytes(196);
    Port active = rig().readyToConnect(rig().serverAddress());

    active.id().connect(asked);
    CmEvent request = rig().request();
    rig().server().queuePair(request.id());
    request.id().accept(answered);

    assertThat(request.privateData()).startsWith(asked);
    assertThat(request.status()).isZero();
    CmEvent established = rig().client().expect(active.id(), Type.ESTABLISHED);
    assertThat(established.privateData()).startsWith(answered);
    rig().server().expect(request.id(), Type.ESTABLISHED);
  }

  @Test
  default void shortPrivateDataComesWithNothingButZerosBehindIt() throws Exception {
    Port active = rig().readyToConnect(rig().serverAddress());

    active.id().connect(new byte[] {7, 8});

    byte[] seen = rig().request().privateData();
    assertThat(seen).startsWith(7, 8);
    if (rig().traits().padsPrivateData()) {
      assertThat(Arrays.copyOfRange(seen, 2, seen.length)).containsOnly(0);
    } else {
      assertThat(seen).hasSize(2);
    }
  }

  @Test
  default void rejectionCarriesItsReasonAndPrivateData() throws Exception {
    byte[] why = randomBytes(148);
    Port active = rig().readyToConnect(rig().serverAddress());
    active.id().connect(new byte[0]);

    rig().request().id().reject(why);

    CmEvent rejected = rig().client().expect(active.id(), Type.REJECTED);
    assertThat(rejected.privateData()).startsWith(why);
    if (rig().traits().iwarp()) {
      // The iWARP connection manager of the kernel reports an errno instead of a reason.
      assertThat(rejected.status()).isNegative();
    } else {
      assertThat(rejected.status()).isEqualTo(28);
    }
  }

  @Test
  default void connectingWhereNobodyListensFails() throws Exception {
    InetSocketAddress abandoned;
    try (CmId briefly = rig().server().cm().listen(0, 1)) {
      abandoned = briefly.localAddress();
    }
    Port active = rig().readyToConnect(abandoned);
    if (!rig().traits().connectFailsLater()) {
      assertThatThrownBy(() -> active.id().connect(new byte[0]))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("ECONNREFUSED");
      return;
    }

    active.id().connect(new byte[0]);

    CmEvent failed = rig().client().nextEvent();
    assertThat(failed.id()).isSameAs(active.id());
    assertThat(failed.type()).isIn(Type.REJECTED, Type.UNREACHABLE, Type.CONNECT_ERROR);
    assertThat(failed.status()).isNotZero();
  }

  @Test
  default void privateDataOverTheFabricsLimitIsRefused() throws Exception {
    Port active = rig().readyToConnect(rig().serverAddress());
    assertThatThrownBy(() -> active.id().connect(new byte[57])).hasMessageContaining("56");
    active.id().connect(new byte[0]);
    CmId request = rig().request().id();
    rig().server().queuePair(request);
    assertThatThrownBy(() -> request.accept(new byte[197])).hasMessageContaining("196");
    assertThatThrownBy(() -> request.reject(new byte[149])).hasMessageContaining("148");

    request.accept(new byte[0]);
    rig().client().expect(active.id(), Type.ESTABLISHED);
  }

  @Test
  default void addressesNameBothEnds() throws Exception {
    RigPair pair = rig().connectWithoutRights();

    assertThat(pair.client().id().peerAddress()).isEqualTo(rig().serverAddress());
    assertThat(pair.server().id().localAddress()).isEqualTo(rig().serverAddress());
    assertThat(pair.server().id().peerAddress().getAddress()).isEqualTo(rig().address());
  }

  @Test
  default void portZeroMeansAnyFreePort() throws Exception {
    CmId other = rig().own(rig().server().cm().listen(0, 1));

    assertThat(other.localAddress().getAddress()).isEqualTo(rig().address());
    assertThat(other.localAddress().getPort()).isPositive();
    assertThat(other.localAddress()).isNotEqualTo(rig().serverAddress());
  }

  @Test
  default void portInUseIsRefused() throws Exception {
    int taken = rig().serverAddress().getPort();

    assertThatThrownBy(() -> rig().own(rig().client().cm().listen(taken, 1)))
        .isInstanceOf(VerbsException.class)
        .hasMessageContaining(Integer.toString(taken));
  }

  @Test
  default void disconnectIsSeenByBothEndsAndIsIdempotent() throws Exception {
    RigPair pair = rig().connectWithoutRights();

    pair.client().id().disconnect();
    pair.client().id().disconnect();

    rig().server().expect(pair.server().id(), Type.DISCONNECTED);
    pair.server().id().disconnect();
    rig().client().expect(pair.client().id(), Type.DISCONNECTED);
  }

  @Test
  default void closingAnIdDisconnectsThePeer() throws Exception {
    RigPair pair = rig().connectWithoutRights();

    pair.client().id().close();

    rig().server().expect(pair.server().id(), Type.DISCONNECTED);
  }

  @Test
  default void movingToErrorIsNoticedByThePeer() throws Exception {
    RigPair pair = rig().connectWithoutRights();

    pair.client().queuePair().toError();

    rig().server().expect(pair.server().id(), Type.DISCONNECTED);
  }

  @Test
  default void noEventNamesAClosedId() throws Exception {
    RigPair pair = rig().connectWithoutRights();

    pair.server().id().close();
    pair.client().id().close();

    assertThat(rig().client().cm().await(RigEnd.WATCH_NS)).isNull();
    assertThat(rig().server().cm().await(RigEnd.WATCH_NS)).isNull();
  }

  @Test
  default void requestClosedUnansweredFailsAtThePeer() throws Exception {
    Port active = rig().readyToConnect(rig().serverAddress());
    active.id().connect(new byte[0]);

    rig().request().id().close();

    assertThat(rig().client().nextEvent().type())
        .isIn(Type.REJECTED, Type.UNREACHABLE, Type.CONNECT_ERROR);
  }

  @Test
  default void manyConnectionsStandSideBySide() throws Exception {
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    RigPair[] pairs = new RigPair[8];
    for (int i = 0; i < pairs.length; i++) {
      pairs[i] = rig().connect();
    }

    pairs[3].client().id().close();
    for (int i = 0; i < pairs.length; i++) {
      if (i != 3) {
        sink.fill((byte) 0);
        assertThat(pairs[i].read(i, source, sink, 4096).status()).isEqualTo(WcStatus.SUCCESS);
        assertThat(sink.bytes()).isEqualTo(source.bytes());
      }
    }
  }

  @Test
  default void anIdTakesOneQueuePair() throws Exception {
    CmId id = rig().readyToConnect(rig().serverAddress()).id();

    assertThatThrownBy(() -> rig().client().queuePair(id)).isInstanceOf(VerbsException.class);
  }

  private static byte[] randomBytes(int count) {
    byte[] bytes = new byte[count];
    new Random(count).nextBytes(bytes);
    return bytes;
  }
}
