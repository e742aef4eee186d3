package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.RdmaBlockClient;

/**
 * The transport of a process that only reads: in MapReduce a reduce task. It does not listen, and
 * nothing of it can be read by others.
 */
public final class ReaderTransport extends AdapterTransport implements ReadingTransport {
  private final RdmaBlockClient client;

  /**
   * Opens the adapter and starts the threads.
   *
   * @param discovery tells how owners are reached; their credentials may be of either kind, for one
   *     connection or for many. Lent; outlives the transport
   * @throws TransportException if the adapter cannot be used; nothing is left open
   */
  public static ReaderTransport open(Site site, Discovery discovery, TransportSettings settings)
      throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      OpenedAdapter adapter = OpenedAdapter.open(site, Role.READER, settings, undo);
      return new ReaderTransport(adapter, discovery, undo);
    }
  }

  private ReaderTransport(OpenedAdapter adapter, Discovery discovery, CloseStack undo)
      throws TransportException {
    super(adapter, undo);
    client = openClient(discovery, undo);
    opened(undo);
  }

  @Override
  public BlockClient client() {
    return client;
  }
}
