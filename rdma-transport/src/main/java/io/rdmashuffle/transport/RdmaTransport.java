package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.RdmaBlockClient;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockServer;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletionStage;
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

  private final CloseStack parts;
  private final TransportBase base;
  private final BlockServer server;
  private final TicketOffice tickets;
  private final RdmaBlockClient client;
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
    OpenedAdapter adapter = OpenedAdapter.open(site, Role.PEER, settings, undo);
    ProtectionDomain inbound = undo.push(adapter.device().allocateProtectionDomain());
    base = new TransportBase(adapter, undo);
    server = base.openServer(engine.catalog(), undo);
    client = base.openClient(engine.discovery(), undo);
    tickets = new TicketOffice(inbound, site.clock());
    int port = base.layer().listen(0, tickets, server.acceptor());
    listenAddress = new InetSocketAddress(site.address(), port);
    parts = undo.handOver();
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
    return base.counters();
  }

  /** The adapter and its address, for users. */
  public String describe() {
    return base.describe();
  }

  /**
   * Completes, with the reason, when the adapter is gone for good: removed or broken. Everything
   * falls back from then on, and what is left to do is to {@link #close}: the kernel may wait for
   * it. On the progress thread, which must not close.
   */
  public CompletionStage<String> lost() {
    return base.lost();
  }

  /**
   * What is registered, connected and running now, by the name users see. All of it is zero after
   * {@link #close}, but for memory of blocks that consumers still hold.
   */
  public Map<String, Long> levels() {
    return base.levels();
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
