package io.rdmashuffle.transport;

import io.rdmashuffle.transport.channel.ChannelLayer;
import io.rdmashuffle.transport.channel.ChannelParts;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.ClientParts;
import io.rdmashuffle.transport.client.ClientThreads;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.RdmaBlockClient;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.FileWindows;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockServer;
import io.rdmashuffle.transport.server.RdmaBlockServer;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA in one process, on one adapter: everything the engine's side needs, opened and closed as one
 * thing. It serves the blocks of a catalog to whoever comes with a ticket, and fetches blocks of
 * other processes.
 *
 * <p><b>Threads:</b> any. Only opening and {@link #close} wait. <b>Ownership:</b> the opener closes
 * it; provider, catalog and discovery are lent and outlive it. Blocks that consumers hold stay
 * valid until they are closed, also after this. <b>Errors:</b> opening throws {@link
 * TransportException} and leaves nothing open; later failures only make blocks fall back.
 */
public final class RdmaTransport implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaTransport.class);

  /** Of the slow threads; the rest grows the pool and asks peers. */
  private static final int SERVER_SLOW_THREADS = TransportThreads.SLOW_THREADS - 1;

  private final CloseStack parts;
  private final Device device;
  private final MemoryBudget budget;
  private final TransportThreads threads;
  private final ChunkPool pool;
  private final ChannelLayer layer;
  private final BlockServer server;
  private final TicketOffice tickets;
  private final RdmaBlockClient client;
  private final Counters counters;
  private final InetSocketAddress listenAddress;

  /**
   * Where a transport runs.
   *
   * @param provider the libraries; not closed here
   * @param address IPv4 address of the adapter to use
   * @param name of this process, for logs and names of threads
   * @param clock the time
   */
  public record Site(VerbsProvider provider, InetAddress address, String name, NanoClock clock) {}

  /**
   * What the engine provides.
   *
   * @param catalog the blocks to serve
   * @param discovery finds peers
   */
  public record Engine(BlockCatalog catalog, Discovery discovery) {}

  /**
   * Opens the adapter, starts the threads, and listens on a free port.
   *
   * @throws TransportException if the adapter cannot be used; nothing is left open
   */
  public static RdmaTransport open(Site site, Engine engine, TransportSettings settings)
      throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      RdmaTransport transport = new RdmaTransport(site, engine, settings, undo);
      LOG.info("[{}] RDMA through {}", site.name(), transport.describe());
      return transport;
    }
  }

  private RdmaTransport(Site site, Engine engine, TransportSettings settings, CloseStack undo)
      throws TransportException {
    HostMemory host = site.provider().hostMemory();
    MemoryPlan plan = MemoryPlan.of(host, settings);
    budget = plan.budget();
    LOG.info("[{}] {}", site.name(), budget.describe(plan.wantedBytes()));
    counters = new Counters();
    device = undo.push(site.provider().open(site.address()));
    ProtectionDomain outbound = undo.push(device.allocateProtectionDomain());
    ProtectionDomain inbound = undo.push(device.allocateProtectionDomain());
    threads = undo.push(new TransportThreads(site.name()));
    pool =
        undo.push(new ChunkPool(sinks(host, outbound), plan.pool(), threads.slow(), site.clock()));
    layer =
        undo.push(
            ChannelLayer.open(
                new ChannelParts(device, host, outbound, budget, counters, site.clock()),
                settings.channel(),
                site.name()));
    SplittableRandom random = new SplittableRandom();
    server =
        undo.push(
            new RdmaBlockServer(
                new RdmaBlockServer.Threads(
                    layer.loop(), threads.slow(), SERVER_SLOW_THREADS, random.split()),
                new RdmaBlockServer.Memory(host, budget, new FileWindows(host, budget)),
                engine.catalog(),
                settings.server(),
                counters));
    client =
        undo.push(
            new RdmaBlockClient(
                new ClientParts(
                    layer.loop(),
                    layer.dialer(),
                    engine.discovery(),
                    pool,
                    new ClientThreads(threads.slow(), threads.copy(), threads.delivery()),
                    counters,
                    random.split(),
                    settings.client(),
                    settings.channel())));
    layer.addDeviceListener(client);
    tickets = new TicketOffice(inbound, site.clock());
    int port = layer.listen(0, tickets, server.acceptor());
    listenAddress = new InetSocketAddress(site.address(), port);
    pool.warmUp();
    parts = undo.handOver();
  }

  /** Memory that READs land in. On iWARP the peer's adapter writes it, in this domain alone. */
  private MemorySource sinks(HostMemory host, ProtectionDomain outbound) {
    Access access =
        device.attributes().iwarp() ? Access.LOCAL_AND_REMOTE_WRITE : Access.LOCAL_WRITE;
    return new MemorySource(host, outbound, budget, MemoryBudget.Use.READER_POOL, access);
  }

  /** Closed by the transport. */
  public BlockClient client() {
    return client;
  }

  /** Closed by the transport. */
  public BlockServer server() {
    return server;
  }

  /** Lets readers connect. */
  public TicketOffice tickets() {
    return tickets;
  }

  /** Where readers connect to. */
  public InetSocketAddress listenAddress() {
    return listenAddress;
  }

  public Counters counters() {
    return counters;
  }

  /** The adapter and its address, for users. */
  public String describe() {
    return device.name() + " at " + listenAddress.getAddress().getHostAddress();
  }

  /**
   * What is registered, connected and running now, by the name users see. All of it is zero after
   * {@link #close}, but for memory of blocks that consumers still hold.
   */
  public Map<String, Long> levels() {
    Map<String, Long> levels = new LinkedHashMap<>();
    for (MemoryBudget.Use use : MemoryBudget.Use.values()) {
      String name = use.name().toLowerCase(Locale.ROOT).replace('_', '-');
      levels.put("registered-bytes." + name, budget.usedBytes(use));
    }
    levels.put("pool.chunks-out", (long) pool.chunksOut());
    levels.put("connections", (long) layer.connections());
    levels.put("leases", counters.value(Counter.LEASES_LIVE));
    levels.put("threads", (long) threads.alive());
    return levels;
  }

  /**
   * Fetches in progress fall back, sessions and leases end, then everything is closed in reverse
   * order. Idempotent. Each step has a deadline; what does not end in time is logged and left.
   */
  @Override
  public void close() {
    parts.close();
  }
}
