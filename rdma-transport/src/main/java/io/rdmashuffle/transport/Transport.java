package io.rdmashuffle.transport;

import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * RDMA in one process, on one adapter: everything an engine's side needs, opened and closed as one
 * thing. There are three ways to open it: {@link RdmaTransport} serves and fetches blocks, {@link
 * OwnerTransport} only serves, {@link ReaderTransport} only fetches.
 *
 * <p><b>Threads:</b> any. Only opening and {@link #close} wait. <b>Ownership:</b> the opener closes
 * it; it owns its threads, the device, and the libraries. Blocks that consumers hold stay valid
 * until they are closed, also after this. <b>Errors:</b> opening throws {@link TransportException}
 * and leaves nothing open, the libraries included; later failures only make blocks fall back.
 */
public interface Transport extends AutoCloseable {
  /**
   * Where a transport runs.
   *
   * @param provider the libraries, which the transport closes; {@link VerbsProvider#lent} keeps
   *     them
   * @param address IPv4 address of the adapter to use
   * @param name of this process, for logs and names of threads
   * @param clock the time
   * @param gate what goes to another thread passes it
   */
  record Site(
      VerbsProvider provider, InetAddress address, String name, NanoClock clock, Gate gate) {
    public Site(VerbsProvider provider, InetAddress address, String name, NanoClock clock) {
      this(provider, address, name, clock, Gate.OPEN);
    }
  }

  /** What is counted, from opening on. */
  Counters counters();

  /**
   * What is registered, connected and running now, by the name users see. All of it is zero after
   * {@link #close}, but for memory of blocks that consumers still hold and what the adapter did not
   * take back.
   */
  Map<String, Long> levels();

  /** The adapter and its address, for users. */
  String describe();

  /**
   * Completes, with the reason, when the adapter is gone for good: removed or broken. Everything
   * falls back from then on, and what is left to do is to {@link #close}: the kernel may wait for
   * it. On the progress thread, which must not close.
   */
  CompletionStage<String> lost();

  /**
   * Fetches in progress fall back, sessions and leases end, then everything is closed in reverse
   * order. Each step has a deadline. Idempotent; a second caller waits for the first. Does not
   * throw: what the adapter does not take back is counted and logged once; its memory stays mapped
   * and is not used again.
   */
  @Override
  void close();
}
