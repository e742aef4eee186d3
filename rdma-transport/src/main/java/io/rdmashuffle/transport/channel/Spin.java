package io.rdmashuffle.transport.channel;

/**
 * How long a thread looks for work before it sleeps: up to a limit as long as looking pays, not at
 * all while it does not. Whether it pays depends on the adapter and on the cores that are free: a
 * peer answers within microseconds over an adapter, and not before this thread sleeps where both
 * share a core. After a number of sleeps it is tried again. One thread.
 */
final class Spin {
  private static final int SLEEPS_BETWEEN_TRIALS = 64;

  private final long limitNs;
  private int sleepsToTrial;

  /**
   * @param limitNs 0: never
   */
  Spin(long limitNs) {
    this.limitNs = limitNs;
  }

  /** Whether to look on after so much time without work. */
  boolean looksOn(long idleNs) {
    return sleepsToTrial == 0 && idleNs < limitNs;
  }

  /** Work came while the thread was looking. */
  void paid() {
    sleepsToTrial = 0;
  }

  /** There was nothing to be found, the thread sleeps. */
  void missed() {
    sleepsToTrial = sleepsToTrial == 0 ? SLEEPS_BETWEEN_TRIALS : sleepsToTrial - 1;
  }
}
