package io.rdmashuffle.transport.handover;

/**
 * Threads that do work for others.
 *
 * <p><b>Threads:</b> any. Handing over never waits.
 */
public interface Workers {
  /**
   * Hands work over. If nobody is there to do it, the work is abandoned here, on the caller's
   * thread.
   */
  void execute(Work work);

  /** Hands over everything collected, in its order, and leaves the collection empty. */
  default void executeAll(WorkChain chain) {
    for (Work work = chain.turnAround(); work != null; ) {
      Work later = work.next;
      work.next = null;
      execute(work);
      work = later;
    }
  }
}
