package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One end of a connection, or a listener. Each call checks the state the man pages demand; what it
 * starts becomes an event later.
 */
final class FakeCmId extends Tracked implements CmId {
  // What fits in the messages of the InfiniBand connection manager, less RDMA CM's own header.
  private static final int REQUEST_BYTES = 56;
  private static final int ACCEPT_BYTES = 196;
  private static final int REJECT_BYTES = 148;
  // Reasons of a rejection: enum ib_cm_rej_reason.
  private static final int INVALID_SERVICE_ID = 8;
  private static final int CONSUMER_DEFINED = 28;

  private enum State {
    IDLE,
    LISTENING,
    ADDRESS_RESOLVED,
    ROUTE_RESOLVED,
    CONNECTING,
    REQUESTED,
    CONNECTED,
    DISCONNECTED
  }

  private final FakeCmChannel channel;
  private final InetSocketAddress local;
  private InetSocketAddress remote;
  private State state = State.IDLE;
  private FakeQueuePair qp;
  private FakeCmId peer;
  private FakeCmId listener;
  private final List<FakeCmId> pending = new ArrayList<>(); // of a listener: not yet taken
  private int backlog;

  FakeCmId(FakeCmChannel channel, int port) {
    super(channel.fabric, Resource.CM_ID);
    this.channel = channel;
    this.local = new InetSocketAddress(channel.device.address(), port);
    channel.addId();
  }

  void startListening(int maxPending) {
    state = State.LISTENING;
    backlog = Math.max(1, maxPending);
  }

  @Override
  public void resolveAddress(InetSocketAddress target, long timeoutNs) throws VerbsException {
    synchronized (fabric) {
      requireState("rdma_resolve_addr", State.IDLE);
      remote = target;
      boolean known = fabric.adapter(target.getAddress()) != null;
      later(
          () -> {
            state = known ? State.ADDRESS_RESOLVED : State.IDLE;
            tell(
                known ? CmEvent.Type.ADDR_RESOLVED : CmEvent.Type.ADDR_ERROR,
                known ? 0 : -Errno.ETIMEDOUT.number());
          });
    }
  }

  @Override
  public void resolveRoute(long timeoutNs) throws VerbsException {
    synchronized (fabric) {
      requireState("rdma_resolve_route", State.ADDRESS_RESOLVED);
      later(
          () -> {
            state = State.ROUTE_RESOLVED;
            tell(CmEvent.Type.ROUTE_RESOLVED, 0);
          });
    }
  }

  @Override
  public QueuePair createQueuePair(
      ProtectionDomain domain, CompletionQueue completions, QueuePairCapacity capacity)
      throws VerbsException {
    synchronized (fabric) {
      requireOpen("rdma_create_qp");
      FakeDomain ownDomain = (FakeDomain) domain;
      FakeCompletionQueue ownQueue = (FakeCompletionQueue) completions;
      boolean bound = state != State.IDLE && state != State.LISTENING;
      boolean sameDevice =
          ownDomain.device == channel.device && ownQueue.device() == channel.device;
      int most = channel.device.attributes().maxQpWr();
      boolean fits = capacity.sendEntries() <= most && capacity.receiveEntries() <= most;
      if (qp != null || !bound || !sameDevice || !fits) {
        throw bug("rdma_create_qp of " + capacity + " in state " + state, Errno.EINVAL);
      }
      ownDomain.requireOpen("rdma_create_qp");
      ownQueue.requireOpen("rdma_create_qp");
      if (!channel.device.adapter.hasRoomForQueuePair()) {
        throw failure(Kind.RETRY, "rdma_create_qp", Errno.ENOMEM);
      }
      qp = new FakeQueuePair(ownDomain, ownQueue, capacity);
      qp.connection().onHangUp(this::part);
      return qp;
    }
  }

  @Override
  public void connect(byte[] privateData) throws VerbsException {
    synchronized (fabric) {
      requireState("rdma_connect", State.ROUTE_RESOLVED);
      requireQueuePair("rdma_connect");
      byte[] padded = pad(privateData, REQUEST_BYTES);
      state = State.CONNECTING;
      later(() -> sendRequest(padded));
    }
  }

  private void sendRequest(byte[] privateData) {
    if (fabric.faults().isBlackHole(remote.getAddress())) {
      return;
    }
    FakeAdapter target = fabric.adapter(remote.getAddress());
    boolean cut = !target.isUp() || !channel.device.adapter.isUp();
    if (cut || fabric.faults().isUnreachable(remote.getAddress())) {
      tell(CmEvent.Type.UNREACHABLE, -Errno.ETIMEDOUT.number());
      return;
    }
    FakeCmId accepting = target.listener(remote.getPort());
    if (accepting == null || accepting.pending.size() == accepting.backlog) {
      tell(CmEvent.Type.REJECTED, INVALID_SERVICE_ID);
      return;
    }
    FakeCmId inbound = new FakeCmId(accepting.channel, accepting.local.getPort());
    inbound.listener = accepting;
    accepting.pending.add(inbound);
    inbound.remote = local;
    inbound.state = State.REQUESTED;
    inbound.peer = this;
    peer = inbound;
    inbound.tell(CmEvent.Type.CONNECT_REQUEST, 0, privateData);
  }

  /** The program has taken the request from the listener's queue. */
  void received() {
    listener.pending.remove(this);
    listener = null;
  }

  @Override
  public void accept(byte[] privateData) throws VerbsException {
    synchronized (fabric) {
      requireState("rdma_accept", State.REQUESTED);
      requireQueuePair("rdma_accept");
      byte[] padded = pad(privateData, ACCEPT_BYTES);
      boolean peerWaits = peer.isConnecting();
      state = peerWaits ? State.CONNECTED : State.DISCONNECTED;
      if (peerWaits) {
        qp.connect(peer.qp, false);
        peer.qp.connect(qp, true);
        peer.state = State.CONNECTED;
      }
      later(() -> establish(peerWaits, padded));
    }
  }

  private void establish(boolean peerWaited, byte[] privateData) {
    if (!peerWaited) {
      tell(CmEvent.Type.CONNECT_ERROR, -Errno.ECONNRESET.number());
      return;
    }
    peer.tell(CmEvent.Type.ESTABLISHED, 0, privateData);
    tell(CmEvent.Type.ESTABLISHED, 0);
  }

  private boolean isConnecting() {
    return state == State.CONNECTING && !isClosed() && !qp.isClosed();
  }

  @Override
  public void reject(byte[] privateData) throws VerbsException {
    synchronized (fabric) {
      requireState("rdma_reject", State.REQUESTED);
      byte[] padded = pad(privateData, REJECT_BYTES);
      state = State.DISCONNECTED;
      later(() -> rejectPeer(padded));
    }
  }

  private void rejectPeer(byte[] privateData) {
    if (peer.state == State.CONNECTING) {
      peer.state = State.DISCONNECTED;
      peer.tell(CmEvent.Type.REJECTED, CONSUMER_DEFINED, privateData);
    }
  }

  @Override
  public void disconnect() throws VerbsException {
    synchronized (fabric) {
      requireOpen("rdma_disconnect");
      part();
      fabric.changed();
    }
  }

  private void part() {
    if (state == State.CONNECTED) {
      qp.enterError(); // rdma_disconnect(3): moves the queue pair to the error state
      later(() -> tell(CmEvent.Type.DISCONNECTED, 0));
      hangUp();
    }
  }

  /** The peer learns that the connection has ended; its own queue pair is its own affair. */
  private void hangUp() {
    state = State.DISCONNECTED;
    FakeCmId other = peer;
    if (other.state == State.CONNECTED) {
      other.state = State.DISCONNECTED;
      later(() -> other.tell(CmEvent.Type.DISCONNECTED, 0));
    }
  }

  @Override
  public InetSocketAddress localAddress() throws VerbsException {
    synchronized (fabric) {
      requireOpen("rdma_get_local_addr");
      return local;
    }
  }

  @Override
  public InetSocketAddress peerAddress() throws VerbsException {
    synchronized (fabric) {
      requireOpen("rdma_get_peer_addr");
      if (remote == null) {
        throw bug("rdma_get_peer_addr of an id without a peer", Errno.EINVAL);
      }
      return remote;
    }
  }

  private void tell(CmEvent.Type type, int status) {
    tell(type, status, new byte[0]);
  }

  private void tell(CmEvent.Type type, int status, byte[] privateData) {
    if (!isClosed()) {
      channel.offer(new CmEvent(type, this, status, privateData));
    }
  }

  private void later(Runnable event) {
    fabric.later(event);
    fabric.changed();
  }

  private void requireState(String call, State expected) throws VerbsException {
    requireOpen(call);
    if (state != expected) {
      throw bug(call + " in state " + state, Errno.EINVAL);
    }
  }

  private void requireQueuePair(String call) throws VerbsException {
    if (qp == null || qp.isClosed()) {
      throw bug(call + " without a queue pair", Errno.EINVAL);
    }
  }

  private static byte[] pad(byte[] privateData, int bytes) throws VerbsException {
    if (privateData.length > bytes) {
      String call = "private data of " + privateData.length + " bytes, " + bytes + " fit";
      throw bug(call, Errno.EINVAL);
    }
    return Arrays.copyOf(privateData, bytes);
  }

  @Override
  void release() {
    if (qp != null) {
      qp.close();
    }
    if (state == State.LISTENING) {
      channel.device.adapter.removeListener(this);
      List.copyOf(pending).forEach(FakeCmId::close); // rejects them
    } else if (state == State.REQUESTED) {
      if (listener != null) {
        received();
      }
      later(() -> rejectPeer(new byte[REJECT_BYTES]));
    } else if (state == State.CONNECTED) {
      hangUp();
    }
    channel.forget(this);
    channel.removeId();
  }
}
