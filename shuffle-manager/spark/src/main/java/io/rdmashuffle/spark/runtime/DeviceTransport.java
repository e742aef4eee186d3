package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.TicketOffice;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.server.OutputFile;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The transport on an adapter, with the libraries it came through. */
final class DeviceTransport implements OpenedTransport {
  private final RdmaTransport transport;
  private final CloseStack parts;

  /**
   * @param parts closes the transport, then the libraries
   */
  DeviceTransport(RdmaTransport transport, CloseStack parts) {
    this.transport = transport;
    this.parts = parts;
  }

  @Override
  public String device() {
    return transport.describe();
  }

  @Override
  public BlockClient client() {
    return transport.client();
  }

  @Override
  public void forget(Collection<OutputFile> files) {
    // The server logs what does not go away in time; nobody here waits for it.
    CompletableFuture<Void> unused = transport.server().forget(files);
  }

  @Override
  public Invitation.Ticket issueTicket() {
    TicketOffice.Ticket ticket = transport.tickets().issue();
    return new Invitation.Ticket(
        List.of(transport.listenAddress()), ticket.credentialId(), ticket.secret());
  }

  @Override
  public Counters counters() {
    return transport.counters();
  }

  @Override
  public Map<String, Long> levels() {
    return transport.levels();
  }

  @Override
  public CompletionStage<String> lost() {
    return transport.lost();
  }

  /** Idempotent; a second caller waits for the first. */
  @Override
  public synchronized void close() { // once per process, and parts are closed by one thread
    parts.close();
  }
}
