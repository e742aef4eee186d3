package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.RdmaBlockClient;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockServer;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The transport of a process that serves the blocks of a catalog to whoever comes with a ticket,
 * and fetches blocks of other processes: in Spark an executor.
 */
public final class RdmaTransport extends AdapterTransport implements PeerTransport {
  private final BlockServer server;
  private final TicketOffice tickets;
  private final RdmaBlockClient client;
  private final InetSocketAddress listenAddress;

  /**
   * What the engine provides. Lent; outlives the transport.
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
      OpenedAdapter adapter = OpenedAdapter.open(site, Role.PEER, settings, undo);
      ProtectionDomain inbound = undo.push(adapter.device().allocateProtectionDomain());
      return new RdmaTransport(adapter, inbound, engine, undo);
    }
  }

  private RdmaTransport(
      OpenedAdapter adapter, ProtectionDomain inbound, Engine engine, CloseStack undo)
      throws TransportException {
    super(adapter, undo);
    server = openServer(engine.catalog(), undo);
    client = openClient(engine.discovery(), undo);
    tickets = new TicketOffice(inbound, adapter.site().clock());
    int port = layer().listen(0, tickets, server.acceptor());
    listenAddress = new InetSocketAddress(adapter.site().address(), port);
    opened(undo);
  }

  @Override
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

  @Override
  public Invitation.Ticket issueTicket() {
    TicketOffice.Ticket ticket = tickets.issue();
    return new Invitation.Ticket(List.of(listenAddress), ticket.credentialId(), ticket.secret());
  }

  @Override
  public void forget(Collection<OutputFile> files) {
    CompletableFuture<Void> unused = server.forget(files);
  }
}
