package io.rdmashuffle.transport.verbs;

/**
 * A completion queue with its completion channel and a way to wake its waiter.
 *
 * <p><b>Threads:</b> {@link #poll}, {@link #arm} and {@link #await} belong to one thread, the
 * progress thread; {@link #wakeUp} to any. The maker closes it after the queue pairs that use it.
 */
public interface CompletionQueue extends AutoCloseable {
  /**
   * Takes completions without waiting: ibv_poll_cq(3).
   *
   * @param into cleared first, then filled up to its capacity
   * @return how many it took
   * @throws VerbsException if the queue overflowed: every queue pair on it is lost
   */
  int poll(WorkCompletions into) throws VerbsException;

  /**
   * Asks for an event at the next completion: ibv_req_notify_cq(3). What arrived before may go
   * unnoticed: poll once more between this and {@link #await}.
   */
  void arm() throws VerbsException;

  /**
   * Sleeps until a completion event, a {@link #wakeUp} (also one made before this call) or the end
   * of the time, whichever is first. Consumes and acknowledges what woke it. Costs no CPU.
   *
   * @param timeoutNs at most that long; 0 or less only looks
   */
  void await(long timeoutNs) throws VerbsException;

  /** Ends the current or the next {@link #await}. Any thread, never blocks. */
  void wakeUp();

  /** Idempotent. */
  @Override
  void close();
}
