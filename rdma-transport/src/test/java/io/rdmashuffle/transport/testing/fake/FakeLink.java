package io.rdmashuffle.transport.testing.fake;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.DeviceAttributes;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** Two connected ends on two adapters, with a buffer each, for the tests of the fake itself. */
final class FakeLink implements AutoCloseable {
  static final int BYTES = 8192;

  /** One end: what a process has open. Closing it closes all of that. */
  static final class End implements AutoCloseable {
    final Device device;
    final ProtectionDomain domain;
    final CompletionQueue completions;
    final CmChannel events;
    final Mapping memory;
    final MemoryRegion region;
    CmId id;
    QueuePair qp;
    private final CloseStack parts = new CloseStack();

    End(FakeFabric fabric, DeviceAttributes attributes, Access access) throws VerbsException {
      device = parts.push(fabric.provider().open(fabric.addAdapter(attributes)));
      domain = parts.push(device.allocateProtectionDomain());
      memory = parts.push(fabric.provider().hostMemory().allocate(BYTES));
      region = parts.push(domain.register(memory.address(), BYTES, access));
      completions = parts.push(device.createCompletionQueue(16));
      events = parts.push(device.openCmChannel());
    }

    void createQueuePair(CmId owner) throws VerbsException {
      id = parts.push(owner);
      qp = owner.createQueuePair(domain, completions, new QueuePairCapacity(8, 8));
    }

    ByteBuffer bytes() {
      return memory.view(0, BYTES);
    }

    WorkCompletions poll() throws VerbsException {
      WorkCompletions result = new WorkCompletions(16);
      completions.poll(result);
      return result;
    }

    CmEvent event(CmEvent.Type expected) throws VerbsException {
      CmEvent event = events.await(0);
      assertThat(event).isNotNull();
      assertThat(event.type()).isEqualTo(expected);
      return event;
    }

    @Override
    public void close() {
      parts.close();
    }
  }

  final FakeFabric fabric;
  final End reader;
  final End owner;
  private final CmId listener;

  FakeLink(FakeFabric fabric, DeviceAttributes attributes, Access sink) throws VerbsException {
    this.fabric = fabric;
    reader = new End(fabric, attributes, sink);
    owner = new End(fabric, attributes, Access.REMOTE_READ);
    listener = owner.events.listen(0, 4);
    CmId id = reader.events.createId();
    id.resolveAddress(listener.localAddress(), 1);
    fabric.runUntilIdle();
    reader.event(CmEvent.Type.ADDR_RESOLVED);
    id.resolveRoute(1);
    fabric.runUntilIdle();
    reader.event(CmEvent.Type.ROUTE_RESOLVED);
    reader.createQueuePair(id);
    id.connect(new byte[] {1, 2});
    fabric.runUntilIdle();
    CmEvent request = owner.event(CmEvent.Type.CONNECT_REQUEST);
    assertThat(request.privateData()).hasSize(56).startsWith(1, 2, 0);
    owner.createQueuePair(request.id());
    owner.id.accept(new byte[] {3});
    fabric.runUntilIdle();
    assertThat(reader.event(CmEvent.Type.ESTABLISHED).privateData()).hasSize(196).startsWith(3, 0);
    owner.event(CmEvent.Type.ESTABLISHED);
    owner.qp.allowRemoteReads(true);
  }

  static FakeLink on(FakeFabric fabric) throws VerbsException {
    return new FakeLink(fabric, FakeFabric.DEFAULT_ATTRIBUTES, Access.LOCAL_WRITE);
  }

  InetSocketAddress listenerAddress() throws VerbsException {
    return listener.localAddress();
  }

  /** One READ of the same range of both buffers. */
  void read(long wrId, int offset, int bytes) throws VerbsException {
    ReadChain chain = new ReadChain(1);
    add(chain, offset, bytes);
    chain.stamp(0, wrId);
    reader.qp.postReads(chain);
  }

  /** Reads two bytes from anywhere and returns how that ended. */
  WcStatus statusOfRead(long remoteAddress, int rkey) throws VerbsException {
    ReadChain chain = new ReadChain(1);
    chain.add(2).from(remoteAddress, rkey).into(reader.region.address(), reader.region.lkey());
    reader.qp.postReads(chain);
    fabric.runUntilIdle();
    return reader.poll().status(0);
  }

  /** Adds such a READ to a chain. */
  void add(ReadChain chain, int offset, int bytes) {
    chain
        .add(bytes)
        .from(owner.region.address() + offset, owner.region.rkey())
        .into(reader.region.address() + offset, reader.region.lkey());
  }

  @Override
  public void close() {
    reader.close();
    listener.close();
    owner.close();
    fabric.runUntilIdle();
  }
}
