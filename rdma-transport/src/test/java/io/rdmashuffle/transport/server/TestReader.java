package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import io.rdmashuffle.transport.wire.Reply;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;

/** READs what an owner granted over a real connection of the fabric, so that its rules apply. */
final class TestReader implements AutoCloseable {
  private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
  private static final int SINK_BYTES = 1 << 20;
  private final CloseStack parts = new CloseStack();
  private final CompletionQueue completions;
  private final Mapping sink;
  private final MemoryRegion sinkRegion;
  private QueuePair queuePair;

  TestReader(VerbsProvider provider, InetAddress from, Device owner, ProtectionDomain ownerDomain)
      throws VerbsException {
    Device device = parts.push(provider.open(from));
    ProtectionDomain domain = parts.push(device.allocateProtectionDomain());
    sink = parts.push(provider.hostMemory().allocate(SINK_BYTES));
    sinkRegion = parts.push(domain.register(sink.address(), SINK_BYTES, Access.LOCAL_WRITE));
    completions = parts.push(device.createCompletionQueue(16));
    connect(device, domain, owner, ownerDomain);
  }

  private void connect(
      Device device, ProtectionDomain domain, Device owner, ProtectionDomain ownerDomain)
      throws VerbsException {
    CompletionQueue ownerQueue = parts.push(owner.createCompletionQueue(16));
    CmChannel ownerCm = parts.push(owner.openCmChannel());
    CmChannel cm = parts.push(device.openCmChannel());
    CmId listener = parts.push(ownerCm.listen(0, 1));
    CmId id = parts.push(cm.createId());
    QueuePairCapacity capacity = new QueuePairCapacity(8, 8);
    id.resolveAddress(listener.localAddress(), PATIENCE_NS);
    expect(cm, CmEvent.Type.ADDR_RESOLVED);
    id.resolveRoute(PATIENCE_NS);
    expect(cm, CmEvent.Type.ROUTE_RESOLVED);
    queuePair = id.createQueuePair(domain, completions, capacity);
    id.connect(new byte[0]);
    CmId accepted = parts.push(expect(ownerCm, CmEvent.Type.CONNECT_REQUEST).id());
    accepted.createQueuePair(ownerDomain, ownerQueue, capacity).allowRemoteReads(true);
    accepted.accept(new byte[0]);
    expect(cm, CmEvent.Type.ESTABLISHED);
  }

  private static CmEvent expect(CmChannel channel, CmEvent.Type type) throws VerbsException {
    CmEvent event = channel.await(PATIENCE_NS);
    if (event == null || event.type() != type) {
      throw new AssertionError("expected " + type + ", got " + event);
    }
    return event;
  }

  /** The bytes of a granted block. */
  byte[] read(Reply.Granted granted) throws VerbsException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (Reply.Piece piece : granted.pieces()) {
      WcStatus status = read(piece);
      if (status != WcStatus.SUCCESS) {
        throw new AssertionError("READ of " + piece + " ended with " + status);
      }
      byte[] part = new byte[piece.bytes()];
      sink.view(0, piece.bytes()).get(part);
      bytes.writeBytes(part);
    }
    return bytes.toByteArray();
  }

  /** How a READ of a piece ends. After a failure the connection is broken. */
  WcStatus read(Reply.Piece piece) throws VerbsException {
    ReadChain chain = new ReadChain(1);
    chain
        .add(piece.bytes())
        .from(piece.address(), piece.rkey())
        .into(sink.address(), sinkRegion.lkey());
    queuePair.postReads(chain);
    WorkCompletions batch = new WorkCompletions(1);
    while (completions.poll(batch) == 0) {
      completions.arm();
      completions.await(TimeUnit.MILLISECONDS.toNanos(1));
    }
    return batch.status(0);
  }

  @Override
  public void close() {
    parts.close();
  }
}
