package io.rdmashuffle.transport;

import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockServer;
import io.rdmashuffle.transport.server.RdmaBlockServer;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/**
 * The transport of a process that only serves blocks, to readers that know the secret of a tenant:
 * in MapReduce a NodeManager, and the jobs whose map outputs it holds. Each tenant has a protection
 * domain of its own, so that what is registered for one is out of reach for the others.
 *
 * <p>{@link #admit} may wait for the adapter.
 */
public final class OwnerTransport extends AdapterTransport {
  private final Device device;
  private final HostMemory hostMemory;
  private final StandingCredentials credentials;
  private final RdmaBlockServer server;
  private final InetSocketAddress listenAddress;

  /**
   * Opens the adapter, starts the threads, and listens.
   *
   * @param catalog the blocks to serve; its scope is the tenant's credential. Lent; outlives the
   *     transport
   * @param port where readers connect to, 0 for any free one
   * @throws TransportException if the adapter or the port cannot be used; nothing is left open
   */
  public static OwnerTransport open(
      Site site, BlockCatalog catalog, int port, TransportSettings settings)
      throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      OpenedAdapter adapter = OpenedAdapter.open(site, Role.OWNER, settings, undo);
      StandingCredentials credentials = undo.push(new StandingCredentials());
      return new OwnerTransport(adapter, credentials, catalog, port, undo);
    }
  }

  private OwnerTransport(
      OpenedAdapter adapter,
      StandingCredentials credentials,
      BlockCatalog catalog,
      int port,
      CloseStack undo)
      throws TransportException {
    super(adapter, undo);
    this.device = adapter.device();
    this.hostMemory = adapter.site().provider().hostMemory();
    this.credentials = credentials;
    server = openServer(catalog, undo);
    int bound = layer().listen(port, credentials, server.acceptor());
    listenAddress = new InetSocketAddress(adapter.site().address(), bound);
    opened(undo);
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
    ProtectionDomain domain = device.allocateProtectionDomain();
    boolean taken = false;
    try {
      taken = credentials.add(credentialId, secret, domain);
      return taken;
    } finally {
      if (!taken) {
        domain.close();
      }
    }
  }

  /**
   * A tenant goes away: nobody connects with its secret any more, its readers are disconnected,
   * what was registered for it is deregistered, and its protection domain is closed. The id may be
   * used anew at once.
   *
   * <p>If it throws, an OutOfMemoryError for instance, the tenant is still there.
   *
   * @return completes when all of it is gone; exceptionally if the adapter does not let go of the
   *     domain, which {@link #close} tries again
   */
  public CompletableFuture<Void> withdraw(long credentialId) {
    StandingCredentials.Standing standing = credentials.standing(credentialId);
    if (standing == null) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> forgotten = server.forget(standing.domain());
    CompletableFuture<Void> closed =
        CompletableFuture.allOf(forgotten, standing.unused())
            .thenCompose(gone -> closeDomain(standing));
    credentials.withdraw(credentialId, standing); // last: what is above may fail
    return closed;
  }

  private CompletableFuture<Void> closeDomain(StandingCredentials.Standing standing) {
    CompletableFuture<Void> closed = new CompletableFuture<>();
    pools()
        .slow()
        .execute(
            Work.of(
                () -> {
                  try {
                    credentials.closeDomain(standing);
                    closed.complete(null);
                  } catch (RuntimeException | Error e) {
                    closed.completeExceptionally(e);
                  }
                },
                closed::completeExceptionally));
    return closed;
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

  /** Memory of this process as the adapter can use it, for looking at files before it does. */
  public HostMemory hostMemory() {
    return hostMemory;
  }
}
