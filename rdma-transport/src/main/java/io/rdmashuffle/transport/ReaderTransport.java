package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.RdmaBlockClient;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA in a process that only reads: in MapReduce a reduce task. It does not listen, and nothing of
 * it can be read by others.
 *
 * <p><b>Threads:</b> any; {@link #open} and {@link #close} may wait for the adapter.
 * <b>Ownership:</b> the opener closes it; provider and discovery are lent and outlive it. Blocks
 * that consumers hold stay valid until they are closed, also after this. <b>Errors:</b> opening
 * throws {@link TransportException} and leaves nothing open; later failures only make blocks fall
 * back.
 */
public final class ReaderTransport implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReaderTransport.class);

  private final CloseStack parts;
  private final TransportBase base;
  private final RdmaBlockClient client;

  /**
   * Opens the adapter and starts the threads.
   *
   * @param discovery tells how owners are reached; their credentials may be of either kind, for one
   *     connection or for many
   * @throws TransportException if the adapter cannot be used; nothing is left open
   */
  public static ReaderTransport open(
      RdmaTransport.Site site, Discovery discovery, TransportSettings settings)
      throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      OpenedAdapter adapter = OpenedAdapter.open(site, Role.READER, settings, undo);
      ReaderTransport transport = new ReaderTransport(adapter, discovery, undo);
      LOG.info("[{}] RDMA through {}", site.name(), transport.describe());
      return transport;
    }
  }

  private ReaderTransport(OpenedAdapter adapter, Discovery discovery, CloseStack undo)
      throws TransportException {
    base = new TransportBase(adapter, undo);
    client = base.openClient(discovery, undo);
    parts = undo.handOver();
  }

  /** Closed by the transport. */
  public BlockClient client() {
    return client;
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
   * {@link #close}, but for memory of blocks that consumers still hold.
   */
  public Map<String, Long> levels() {
    return base.levels();
  }

  /**
   * Fetches in progress fall back, then everything is closed in reverse order. Idempotent. Each
   * step has a deadline; what does not end in time is logged and left.
   */
  @Override
  public void close() {
    parts.close();
  }
}
