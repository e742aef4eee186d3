package io.rdmashuffle.transport;

import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockServer;
import io.rdmashuffle.transport.server.RdmaBlockServer;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA in a process that only serves blocks, to readers that know the secret of a tenant: in
 * MapReduce a NodeManager, and the jobs whose map outputs it holds. Each tenant has a protection
 * domain of its own, so that what is registered for one is out of reach for the others.
 *
 * <p><b>Threads:</b> any; {@link #open}, {@link #admit} and {@link #close} may wait for the
 * adapter. <b>Ownership:</b> the opener closes it; provider and catalog are lent and outlive it.
 * <b>Errors:</b> opening throws {@link TransportException} and leaves nothing open; later failures
 * only make blocks fall back.
 */
public final class OwnerTransport implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerTransport.class);

  private final CloseStack parts;
  private final OpenedAdapter adapter;
  private final TransportBase base;
  private final StandingCredentials credentials;
  private final RdmaBlockServer server;
  private final InetSocketAddress listenAddress;

  /**
   * Opens the adapter, starts the threads, and listens.
   *
   * @param catalog the blocks to serve; its scope is the tenant's credential
   * @param port where readers connect to, 0 for any free one
   * @throws TransportException if the adapter or the port cannot be used; nothing is left open
   */
  public static OwnerTransport open(
      RdmaTransport.Site site, BlockCatalog catalog, int port, TransportSettings settings)
      throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      OpenedAdapter adapter = OpenedAdapter.open(site, Role.OWNER, settings, undo);
      OwnerTransport transport = new OwnerTransport(adapter, catalog, port, undo);
      LOG.info(
          "[{}] RDMA through {}, port {}",
          site.name(),
          transport.describe(),
          transport.listenAddress.getPort());
      return transport;
    }
  }

  private OwnerTransport(OpenedAdapter adapter, BlockCatalog catalog, int port, CloseStack undo)
      throws TransportException {
    this.adapter = adapter;
    credentials = undo.push(new StandingCredentials());
    base = new TransportBase(adapter, undo);
    server = base.openServer(catalog, undo);
    int bound = base.layer().listen(port, credentials, server.acceptor());
    listenAddress = new InetSocketAddress(adapter.site().address(), bound);
    parts = undo.handOver();
  }

  /**
   * Lets readers connect who know the secret, as often as they like, until {@link #withdraw}.
   *
   * @param credentialId by which readers name the tenant; sent in the clear
   * @param secret kept secret; copied
   * @return false if the id is in use
   * @throws TransportException if the adapter gives no protection domain
   */
  public boolean admit(long credentialId, byte[] secret) throws TransportException {
    ProtectionDomain domain = adapter.device().allocateProtectionDomain();
    boolean added = credentials.add(credentialId, secret, domain);
    if (!added) {
      domain.close();
    }
    return added;
  }

  /**
   * A tenant goes away: nobody connects with its secret any more, its readers are disconnected,
   * what was registered for it is deregistered, and its protection domain is closed. The id may be
   * used anew at once.
   *
   * @return completes when all of it is gone; exceptionally if the adapter does not let go of the
   *     domain, which {@link #close} tries again
   */
  public CompletableFuture<Void> withdraw(long credentialId) {
    StandingCredentials.Standing standing = credentials.withdraw(credentialId);
    if (standing == null) {
      return CompletableFuture.completedFuture(null);
    }
    return CompletableFuture.allOf(server.forget(standing.domain()), standing.unused())
        .thenRunAsync(() -> credentials.closeDomain(standing), base.threads().slow());
  }

  /** Closed by the transport. */
  public BlockServer server() {
    return server;
  }

  /** Where readers connect to. */
  public InetSocketAddress listenAddress() {
    return listenAddress;
  }

  /** Tenants whose readers may connect. */
  public int tenants() {
    return credentials.size();
  }

  public Counters counters() {
    return base.counters();
  }

  /** The adapter and its address, for users. */
  public String describe() {
    return base.describe();
  }

  /** As {@link RdmaTransport#lost}. */
  public CompletionStage<String> lost() {
    return base.lost();
  }

  /**
   * What is registered, connected and running now, by the name users see. All of it is zero after
   * {@link #close}.
   */
  public Map<String, Long> levels() {
    return base.levels();
  }

  /**
   * Sessions and leases end, then everything is closed in reverse order. Idempotent. Each step has
   * a deadline; what does not end in time is logged and left.
   */
  @Override
  public void close() {
    parts.close();
  }
}
