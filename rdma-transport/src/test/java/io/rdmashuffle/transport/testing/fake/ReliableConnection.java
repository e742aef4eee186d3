package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.WcStatus;

/**
 * The rules of a reliable connection, seen from one end: which requests succeed, and with which
 * status the others fail at both ends.
 *
 * <p>The other end of a connection that broke is not told. It finds out with its next request, as
 * on InfiniBand; a program that waits for more hangs there too. Only who gives up by himself hangs
 * up.
 */
final class ReliableConnection {
  private final FakeQueuePair own;
  private FakeQueuePair peer;
  private Runnable disconnect = () -> {};
  private boolean active;
  private boolean heardFromPeer;
  private boolean remoteReadsAllowed;

  ReliableConnection(FakeQueuePair own) {
    this.own = own;
  }

  void connect(FakeQueuePair other, boolean isActive) {
    peer = other;
    active = isActive;
  }

  /**
   * @param action what the connection manager does when this end gives up
   */
  void onHangUp(Runnable action) {
    disconnect = action;
  }

  void hangUp() {
    disconnect.run();
  }

  void allowRemoteReads(boolean allowed) {
    remoteReadsAllowed = allowed;
  }

  /** Carries out one request. Null if the peer has no receive posted. */
  WcStatus carry(SendRequest request) {
    if (!canReachPeer()) {
      return WcStatus.RETRY_EXC_ERR;
    }
    if (iwarp() && !active && !heardFromPeer) {
      return WcStatus.LOC_QP_OP_ERR; // RFC 5044, section 7: the active side sends first
    }
    WcStatus status = request.isRead() ? read(request) : send(request);
    peer.connection().heardFromPeer = true;
    return status;
  }

  private WcStatus read(SendRequest request) {
    FakeRegion sink = own.fabric.region(request.local().lkey());
    if (!isLocal(sink, request.local()) || !sink.allowsReadSink(iwarp())) {
      return WcStatus.LOC_PROT_ERR;
    }
    if (!peer.connection().remoteReadsAllowed) {
      peer.enterError();
      return WcStatus.REM_INV_REQ_ERR;
    }
    FakeRegion source = own.fabric.region(request.remote().rkey());
    if (!isReadable(source, request) || !copyRead(source, sink, request)) {
      peer.enterError();
      return WcStatus.REM_ACCESS_ERR;
    }
    return WcStatus.SUCCESS;
  }

  private boolean isReadable(FakeRegion source, SendRequest request) {
    return source != null
        && source.rkey() == request.remote().rkey()
        && source.domain == peer.domain
        && source.allowsRemoteRead()
        && source.covers(request.remote().address(), request.bytes());
  }

  private static boolean copyRead(FakeRegion source, FakeRegion sink, SendRequest request) {
    FakeRegion.Range target = new FakeRegion.Range(request.local().address(), request.bytes());
    return FakeMapping.copy(source.mapping, request.remote().address(), sink.mapping, target);
  }

  private WcStatus send(SendRequest request) {
    FakeRegion source = own.fabric.region(request.local().lkey());
    if (request.bytes() != 0 && !isLocal(source, request.local())) {
      return WcStatus.LOC_PROT_ERR;
    }
    FakeQueuePair.Receive receive = peer.peekReceive();
    if (receive == null) {
      own.domain.device.adapter.countReceiverNotReady();
      return null;
    }
    WcStatus atReceiver = deliver(source, request, receive);
    peer.completeReceive(atReceiver, request.bytes());
    if (atReceiver == WcStatus.SUCCESS) {
      return WcStatus.SUCCESS;
    }
    peer.enterError();
    return atReceiver == WcStatus.LOC_LEN_ERR ? WcStatus.REM_INV_REQ_ERR : WcStatus.REM_OP_ERR;
  }

  private WcStatus deliver(FakeRegion source, SendRequest request, FakeQueuePair.Receive receive) {
    if (request.bytes() > receive.bytes()) {
      return WcStatus.LOC_LEN_ERR;
    }
    if (request.bytes() == 0) {
      return WcStatus.SUCCESS;
    }
    FakeRegion sink = own.fabric.region(receive.lkey());
    SendRequest.Local buffer =
        new SendRequest.Local(receive.address(), receive.bytes(), receive.lkey());
    if (!peer.connection().isLocal(sink, buffer) || !sink.allowsReceive()) {
      return WcStatus.LOC_PROT_ERR;
    }
    FakeRegion.Range target = new FakeRegion.Range(receive.address(), request.bytes());
    FakeMapping.copy(source.mapping, request.local().address(), sink.mapping, target);
    return WcStatus.SUCCESS;
  }

  private boolean isLocal(FakeRegion region, SendRequest.Local local) {
    return region != null
        && region.lkey() == local.lkey()
        && region.domain == own.domain
        && region.covers(local.address(), local.bytes());
  }

  /** Flips one bit in the middle of what a READ has just brought. */
  void corrupt(SendRequest request) {
    FakeMapping mapping = own.fabric.region(request.local().lkey()).mapping;
    int offset = (int) (request.local().address() - mapping.address()) + request.bytes() / 2;
    mapping.content().put(offset, (byte) (mapping.content().get(offset) ^ 0x10));
  }

  void receivePosted() {
    if (peer != null) {
      peer.receiverReady();
    }
  }

  /** Whoever waits for a receive of this end waits in vain. */
  void broken() {
    if (peer != null) {
      peer.receiverReady();
    }
  }

  boolean canRetry() {
    return !canReachPeer() || peer.peekReceive() != null;
  }

  private boolean canReachPeer() {
    return peer != null
        && peer.isConnected()
        && own.domain.device.adapter.isUp()
        && peer.domain.device.adapter.isUp();
  }

  private boolean iwarp() {
    return own.domain.device.attributes().iwarp();
  }
}
