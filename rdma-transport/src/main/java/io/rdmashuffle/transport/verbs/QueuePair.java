package io.rdmashuffle.transport.verbs;

/**
 * A reliable connected queue pair, made by {@link CmId#createQueuePair}.
 *
 * <p><b>Threads:</b> posts come from one thread, the progress thread, and do not block. {@link
 * #close} may wait for the adapter and belongs to another thread; the owner sees to it that nothing
 * is posted meanwhile.
 *
 * <p><b>Completions:</b> each posted receive and each signalled request completes exactly once in
 * its completion queue, in the order posted per queue, unless the queue pair is closed first. After
 * a failure the queue pair is in the error state and everything posted completes with {@link
 * WcStatus#WR_FLUSH_ERR} (ibv_poll_cq(3)).
 */
public interface QueuePair extends AutoCloseable {
  /** The number that work completions name. */
  int number();

  /** Posts one receive: ibv_post_recv(3). Allowed before the connection stands. */
  void postReceive(long wrId, long address, int bytes, int lkey) throws VerbsException;

  /** Posts one signalled SEND: ibv_post_send(3). */
  void postSend(long wrId, long address, int bytes, int lkey) throws VerbsException;

  /**
   * Posts a chain of RDMA READs with one call. Only the last is signalled: its completion tells of
   * all. A failed earlier one completes by itself with an error, under its own wr_id.
   *
   * @param reads not empty; may be reused once this returns
   */
  void postReads(ReadChain reads) throws VerbsException;

  /**
   * Allows or forbids the peer to READ through this queue pair (IBV_QP_ACCESS_FLAGS of
   * ibv_modify_qp(3)). A new queue pair allows nothing.
   */
  void allowRemoteReads(boolean allowed) throws VerbsException;

  /** Moves to the error state: whatever is posted flushes, the peer notices. Idempotent. */
  void toError() throws VerbsException;

  /**
   * Destroys it: ibv_destroy_qp(3). Once this has returned the adapter writes to no buffer posted
   * here any more. Completions already in the queue may still be polled. Idempotent.
   */
  @Override
  void close();
}
