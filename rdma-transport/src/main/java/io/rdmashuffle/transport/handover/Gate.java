package io.rdmashuffle.transport.handover;

/**
 * What everything passes on its way to another thread, and where threads come from. Tests put
 * shortages here.
 *
 * <p><b>Threads:</b> any.
 */
public interface Gate {
  /** Lets everything pass. */
  Gate OPEN = new Gate() {};

  /** Before each hand-over, on the caller's thread. What it throws is why it fails. */
  default void pass() {}

  /** Makes a thread, which is not started yet. */
  default Thread newThread(Runnable body, String name) {
    return new Thread(body, name);
  }
}
