package io.rdmashuffle.transport.protocol;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ChannelLayer;
import io.rdmashuffle.transport.channel.ChannelParts;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.client.ClientParts;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.client.ClientThreads;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.client.RdmaBlockClient;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.handover.WorkerPool;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.memory.OrdinarySource;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.net.InetAddress;
import java.util.List;
import java.util.Random;

/** The process that reads blocks of one owner. */
public final class ReaderSide implements AutoCloseable {
  private static final Peer OWNER = new Peer("owner", "localhost", 7337);
  private final CloseStack parts = new CloseStack();
  private final Counters counters = new Counters();
  private final MemoryBudget budget;
  private final RdmaBlockClient client;

  ReaderSide(
      VerbsProvider provider,
      InetAddress local,
      Discovery discovery,
      ClientSettings settings,
      MemoryBudget budget)
      throws TransportException {
    this.budget = budget;
    Device device = parts.push(provider.open(local));
    ProtectionDomain domain = parts.push(device.allocateProtectionDomain());
    Threads threads = new Threads("contract-reader", Gate.OPEN);
    WorkerPool copy = parts.push(WorkerPool.open(threads, "copy", 1));
    WorkerPool delivery = parts.push(WorkerPool.open(threads, "delivery", 2));
    ChannelParts channelParts =
        new ChannelParts(
            device, provider.hostMemory(), domain, budget, counters, NanoClock.system());
    ChannelSettings channelSettings = Patience.channelDefaults();
    ChannelLayer layer = parts.push(ChannelLayer.open(channelParts, channelSettings, threads));
    Access sink = device.attributes().iwarp() ? Access.LOCAL_AND_REMOTE_WRITE : Access.LOCAL_WRITE;
    MemorySource source =
        new MemorySource(provider.hostMemory(), domain, budget, MemoryBudget.Use.READER_POOL, sink);
    ChunkPoolSettings shape =
        ChunkPoolSettings.ofBytes(
            settings.poolBytes(), settings.chunkBytes(), settings.transitShare());
    ChunkPool pool = parts.push(new ChunkPool(source, shape, layer.slowPool(), NanoClock.system()));
    ChunkPool overflow =
        parts.push(
            new ChunkPool(
                new OrdinarySource(provider.hostMemory(), "OVERFLOW"),
                ChunkPoolSettings.fitting(64L << 20, settings.chunkBytes(), 0),
                layer.slowPool(),
                NanoClock.system()));
    client =
        parts.push(
            new RdmaBlockClient(
                new ClientParts(
                    layer.loop(),
                    layer.dialer(),
                    discovery,
                    pool,
                    overflow,
                    new ClientThreads(copy, delivery),
                    counters,
                    new Random(11),
                    settings,
                    channelSettings)));
  }

  /** Starts a fetch. */
  public Fetched fetch(List<BlockKey> keys) {
    Fetched fetched = new Fetched(keys);
    client.fetch(OWNER, keys, fetched);
    return fetched;
  }

  /** The engine says that the owner's process is gone. */
  public void forgetOwner() {
    client.forget(OWNER.id());
  }

  public long count(Counter counter) {
    return counters.value(counter);
  }

  long registeredBytes() {
    return budget.usedBytes();
  }

  /** The client first, then what it stands on. Idempotent. */
  @Override
  public void close() {
    parts.close();
  }
}
