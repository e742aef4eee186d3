package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.DeviceAttributes;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Deque;

/** An adapter as one process has opened it. */
final class FakeDevice extends Tracked implements Device {
  final FakeAdapter adapter;
  final FakeHostMemory memory;
  private final Deque<AsyncEvent> events = new ArrayDeque<>();
  private int children;

  FakeDevice(FakeFabric fabric, FakeAdapter adapter, FakeHostMemory memory) {
    super(fabric, Resource.DEVICE);
    this.adapter = adapter;
    this.memory = memory;
    adapter.attach(this);
  }

  @Override
  public String name() {
    return adapter.name;
  }

  @Override
  public InetAddress address() {
    return adapter.address;
  }

  @Override
  public DeviceAttributes attributes() {
    return adapter.attributes;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() throws VerbsException {
    synchronized (fabric) {
      requireOpen("ibv_alloc_pd");
      return new FakeDomain(this);
    }
  }

  @Override
  public CompletionQueue createCompletionQueue(int entries) throws VerbsException {
    synchronized (fabric) {
      requireOpen("ibv_create_cq");
      if (entries <= 0 || entries > attributes().maxCqe()) {
        throw bug("ibv_create_cq of " + entries + " of " + attributes().maxCqe(), Errno.EINVAL);
      }
      return new FakeCompletionQueue(this, entries);
    }
  }

  @Override
  public CmChannel openCmChannel() throws VerbsException {
    synchronized (fabric) {
      requireOpen("rdma_create_event_channel");
      return new FakeCmChannel(this);
    }
  }

  @Override
  public AsyncEvent pollAsyncEvent() throws VerbsException {
    synchronized (fabric) {
      requireOpen("ibv_get_async_event");
      return events.poll();
    }
  }

  void raise(AsyncEvent event) {
    events.add(event);
  }

  void addChild() {
    children++;
  }

  void removeChild() {
    children--;
  }

  @Override
  void release() {
    forbid(children != 0, "closed before " + children + " objects made from it");
    adapter.detach(this);
  }
}
