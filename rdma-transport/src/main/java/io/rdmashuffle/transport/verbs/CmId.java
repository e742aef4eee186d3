package io.rdmashuffle.transport.verbs;

import java.net.InetSocketAddress;

/**
 * One connection as the connection manager sees it: rdma_create_id(3).
 *
 * <p><b>Outbound:</b> {@link #resolveAddress}, ADDR_RESOLVED, {@link #resolveRoute},
 * ROUTE_RESOLVED, {@link #createQueuePair}, {@link #connect}, then ESTABLISHED, REJECTED,
 * UNREACHABLE or CONNECT_ERROR. <b>Inbound:</b> CONNECT_REQUEST brings a new id; either {@link
 * #reject}, or {@link #createQueuePair} and {@link #accept}, then ESTABLISHED.
 *
 * <p><b>Threads:</b> any, one at a time per id; none of the calls but {@link #close} waits for the
 * peer. The receiver of an id closes it; that destroys its queue pair first.
 */
public interface CmId extends AutoCloseable {
  /**
   * @param timeoutNs after which ADDR_ERROR comes
   */
  void resolveAddress(InetSocketAddress peer, long timeoutNs) throws VerbsException;

  /**
   * @param timeoutNs after which ROUTE_ERROR comes
   */
  void resolveRoute(long timeoutNs) throws VerbsException;

  /** Once per id. The queue pair allows no remote READ until told to. */
  QueuePair createQueuePair(
      ProtectionDomain domain, CompletionQueue completions, QueuePairCapacity capacity)
      throws VerbsException;

  /**
   * @param privateData at most 56 bytes, what InfiniBand and RoCE carry in a request
   */
  void connect(byte[] privateData) throws VerbsException;

  /**
   * @param privateData at most 196 bytes
   */
  void accept(byte[] privateData) throws VerbsException;

  /**
   * @param privateData at most 148 bytes; the peer sees REJECTED with it
   */
  void reject(byte[] privateData) throws VerbsException;

  /** Both sides see DISCONNECTED. Idempotent. */
  void disconnect() throws VerbsException;

  InetSocketAddress localAddress() throws VerbsException;

  InetSocketAddress peerAddress() throws VerbsException;

  /** Destroys the queue pair, then the id. No event names it afterwards. Idempotent. */
  @Override
  void close();
}
