package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsProvider;

/** Everything that bare verbs need before there is a connection, on an adapter of its own. */
final class RawAdapter implements AutoCloseable {
  final CmChannel channel;
  final ProtectionDomain domain;
  final CompletionQueue queue;
  final Mapping memory;
  final MemoryRegion region;

  /** What else is to be closed, before these. */
  final CloseStack parts = new CloseStack();

  RawAdapter(FakeFabric fabric, int memoryBytes) throws TransportException {
    VerbsProvider provider = fabric.provider();
    Device device = parts.push(provider.open(fabric.addAdapter()));
    domain = parts.push(device.allocateProtectionDomain());
    queue = parts.push(device.createCompletionQueue(1024));
    channel = parts.push(device.openCmChannel());
    memory = parts.push(provider.hostMemory().allocate(memoryBytes));
    region = parts.push(domain.register(memory.address(), memory.bytes(), Access.LOCAL_WRITE));
  }

  @Override
  public void close() {
    parts.close();
  }
}
