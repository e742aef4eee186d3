package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.Deque;

/** A queue of connection events. */
final class FakeCmChannel extends Tracked implements CmChannel {
  final FakeDevice device;
  private final Deque<CmEvent> events = new ArrayDeque<>();
  private int ids;
  private boolean woken;

  FakeCmChannel(FakeDevice device) {
    super(device.fabric, Resource.CM_CHANNEL);
    this.device = device;
    device.addChild();
  }

  @Override
  public CmId createId() throws VerbsException {
    synchronized (fabric) {
      requireOpen("rdma_create_id");
      return new FakeCmId(this, device.adapter.freePort());
    }
  }

  @Override
  public CmId listen(int port, int backlog) throws VerbsException {
    synchronized (fabric) {
      requireOpen("rdma_listen");
      FakeAdapter adapter = device.adapter;
      if (adapter.listener(port) != null) {
        String call = "rdma_listen on " + adapter.address.getHostAddress() + ":" + port;
        throw failure(Kind.CONFIG, call, Errno.EADDRINUSE);
      }
      int chosen = port == 0 ? adapter.freePort() : port;
      FakeCmId id = new FakeCmId(this, chosen);
      id.startListening(backlog);
      adapter.addListener(chosen, id);
      return id;
    }
  }

  @Override
  public CmEvent await(long timeoutNs) throws VerbsException {
    synchronized (fabric) {
      requireOpen("rdma_get_cm_event");
      fabric.awaitUntil(() -> !events.isEmpty() || woken || isClosed(), timeoutNs);
      CmEvent event = events.poll();
      woken &= event != null;
      if (event != null && event.type() == CmEvent.Type.CONNECT_REQUEST) {
        ((FakeCmId) event.id()).received();
      }
      return event;
    }
  }

  @Override
  public void wakeUp() {
    synchronized (fabric) {
      woken = true;
      fabric.notifyAll();
    }
  }

  /** Delivers unless the id is closed by now, or a fault keeps the event back. */
  void offer(CmEvent event) {
    Hold hold = fabric.faults().heldEvents(event.type());
    if (hold != null) {
      hold.keep(() -> offer(event));
    } else if (!((FakeCmId) event.id()).isClosed()) {
      events.add(event);
    }
  }

  /** No event names the id from now on. */
  void forget(FakeCmId id) {
    events.removeIf(e -> e.id() == id);
  }

  void addId() {
    ids++;
  }

  void removeId() {
    ids--;
  }

  @Override
  void release() {
    forbid(ids != 0, "closed before " + ids + " ids of it");
    device.removeChild();
  }
}
