package io.rdmashuffle.transport.server;

/** Runs something after so many arrivals. Progress thread only. */
final class Countdown {
  private final Runnable whenZero;
  private int left;

  /**
   * @param arrivals 0 runs it at once
   */
  Countdown(int arrivals, Runnable whenZero) {
    this.left = arrivals;
    this.whenZero = whenZero;
    if (arrivals == 0) {
      whenZero.run();
    }
  }

  /** The last one may arrive again, if what runs then threw: it runs again. */
  void arrive() {
    if (left > 0) {
      left--;
    }
    if (left == 0) {
      whenZero.run();
    }
  }
}
