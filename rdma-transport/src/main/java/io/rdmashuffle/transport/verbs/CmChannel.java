package io.rdmashuffle.transport.verbs;

/**
 * A channel of connection events: rdma_create_event_channel(3).
 *
 * <p><b>Threads:</b> {@link #await} belongs to one thread, the CM thread; the rest to any. The
 * maker closes it after its ids.
 */
public interface CmChannel extends AutoCloseable {
  /** A new id for an outbound connection. The caller closes it. */
  CmId createId() throws VerbsException;

  /**
   * Listens on the device's address. Requests arrive as events of this channel.
   *
   * @param port 0 for any free one; {@link CmId#localAddress} of the result tells which
   * @return the listening id; the caller closes it
   */
  CmId listen(int port, int backlog) throws VerbsException;

  /**
   * The next event, already acknowledged (rdma_ack_cm_event(3)).
   *
   * @param timeoutNs at most that long
   * @return null on time-out and after {@link #wakeUp}
   */
  CmEvent await(long timeoutNs) throws VerbsException;

  /** Ends the current or the next {@link #await}. Any thread, never blocks. */
  void wakeUp();

  /** Idempotent. */
  @Override
  void close();
}
