package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.DeviceAttributes;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The hardware behind one address, shared by all processes that open it. */
final class FakeAdapter {
  // Numbers of enum ibv_event_type (infiniband/verbs.h).
  private static final int EVENT_PORT_ACTIVE = 9;
  private static final int EVENT_PORT_ERR = 10;
  private static final int EVENT_QP_FATAL = 1;

  final String name;
  final InetAddress address;
  final DeviceAttributes attributes;
  private final List<FakeDevice> devices = new ArrayList<>();
  private final Map<Integer, FakeQueuePair> queuePairs = new HashMap<>();
  private final Map<Integer, FakeCmId> listeners = new HashMap<>();
  private boolean up = true;
  private int regions;
  private int lastPort = 20000;
  private long receiverNotReadyCount;

  FakeAdapter(String name, InetAddress address, DeviceAttributes attributes) {
    this.name = name;
    this.address = address;
    this.attributes = attributes;
  }

  boolean isUp() {
    return up;
  }

  void setUp(boolean up) {
    this.up = up;
    raise(
        up
            ? new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, EVENT_PORT_ACTIVE)
            : new AsyncEvent(AsyncEvent.Type.PORT_DOWN, EVENT_PORT_ERR));
  }

  void raise(AsyncEvent event) {
    devices.forEach(d -> d.raise(event));
  }

  void attach(FakeDevice device) {
    devices.add(device);
  }

  void detach(FakeDevice device) {
    devices.remove(device);
  }

  /** Returns whether there was room. */
  boolean addRegion() {
    if (regions == attributes.maxMr()) {
      return false;
    }
    regions++;
    return true;
  }

  void removeRegion() {
    regions--;
  }

  boolean hasRoomForQueuePair() {
    return queuePairs.size() < attributes.maxQp();
  }

  void addQueuePair(FakeQueuePair qp) {
    queuePairs.put(qp.number(), qp);
  }

  void removeQueuePair(FakeQueuePair qp) {
    queuePairs.remove(qp.number());
  }

  void breakQueuePair(int number) {
    FakeQueuePair qp = queuePairs.get(number);
    if (qp != null) {
      qp.enterError();
      raise(new AsyncEvent(AsyncEvent.Type.QP_ERROR, EVENT_QP_FATAL));
    }
  }

  int freePort() {
    do {
      lastPort++;
    } while (listeners.containsKey(lastPort));
    return lastPort;
  }

  /** Null if nobody listens there. */
  FakeCmId listener(int port) {
    return listeners.get(port);
  }

  void addListener(int port, FakeCmId id) {
    listeners.put(port, id);
  }

  void removeListener(FakeCmId id) {
    listeners.values().remove(id);
  }

  void countReceiverNotReady() {
    receiverNotReadyCount++;
  }

  long receiverNotReadyCount() {
    return receiverNotReadyCount;
  }
}
