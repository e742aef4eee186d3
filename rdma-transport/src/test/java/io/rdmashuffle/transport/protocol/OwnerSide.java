package io.rdmashuffle.transport.protocol;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ChannelLayer;
import io.rdmashuffle.transport.channel.ChannelParts;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.FileWindows;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.server.RdmaBlockServer;
import io.rdmashuffle.transport.server.ServerSettings;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Random;

/** The process that owns blocks. */
public final class OwnerSide implements AutoCloseable {
  private final CloseStack parts = new CloseStack();
  private final Counters counters = new Counters();
  private final MemoryBudget budget;
  private final Outputs outputs;
  private final Tickets tickets;
  private final ChannelLayer layer;
  private final RdmaBlockServer server;
  private final InetSocketAddress address;

  OwnerSide(
      VerbsProvider provider,
      InetAddress local,
      Path directory,
      ServerSettings settings,
      MemoryBudget budget)
      throws TransportException {
    this.budget = budget;
    outputs = new Outputs(directory);
    HostMemory memory = provider.hostMemory();
    Device device = parts.push(provider.open(local));
    ProtectionDomain domain = parts.push(device.allocateProtectionDomain());
    tickets = new Tickets(domain);
    ChannelParts channelParts =
        new ChannelParts(device, memory, domain, budget, counters, NanoClock.system());
    layer =
        parts.push(
            ChannelLayer.open(
                channelParts,
                Patience.channelDefaults(),
                new Threads("contract-owner", Gate.OPEN)));
    server =
        parts.push(
            new RdmaBlockServer(
                new RdmaBlockServer.Threads(layer.loop(), layer.slowPool(), 2, new Random(7)),
                new RdmaBlockServer.Memory(
                    memory,
                    budget,
                    new FileWindows(memory, budget),
                    ChunkPoolSettings.ofBytes(settings.stagingBytes(), 128 << 10, 0)),
                outputs,
                settings,
                counters));
    address = new InetSocketAddress(local, layer.listen(0, tickets, server.acceptor()));
  }

  public Outputs outputs() {
    return outputs;
  }

  Tickets tickets() {
    return tickets;
  }

  public RdmaBlockServer server() {
    return server;
  }

  InetSocketAddress address() {
    return address;
  }

  public long count(Counter counter) {
    return counters.value(counter);
  }

  public long registeredBytes(MemoryBudget.Use use) {
    return budget.usedBytes(use);
  }

  long registeredBytes() {
    return budget.usedBytes();
  }

  /** The server first, then its threads and connections. Idempotent. */
  @Override
  public void close() {
    parts.close();
  }
}
