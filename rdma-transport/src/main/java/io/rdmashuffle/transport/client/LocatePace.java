package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.wire.WireLimits;

/**
 * How much an owner is asked for at a time. One that answers only the first keys of a LOCATE is
 * short of memory, and has looked up the others in vain: it is asked for about as many as it
 * answered, by few LOCATEs, and for more again as soon as it answers all. Progress thread only.
 */
final class LocatePace {
  private static final int LEAST_KEYS = 8;

  /**
   * LOCATEs whose blocks are not all read, while the owner is short: one for it to work on, one to
   * read. The next takes the first one's lease along, instead of waiting for that memory there.
   */
  private static final int MOST_WHEN_SHORT = 2;

  private final int mostLeases;
  private int mostKeys = WireLimits.KEYS_PER_LOCATE;
  private int open;

  /**
   * @param requests that the connection may have unanswered
   */
  LocatePace(int requests) {
    this.mostLeases = WireLimits.mostLeases(requests);
  }

  /** Keys to ask for with the next LOCATE, at most. */
  int mostKeys() {
    return mostKeys;
  }

  /** Whether the owner left keys out lately. */
  boolean isShort() {
    return mostKeys < WireLimits.KEYS_PER_LOCATE;
  }

  /**
   * Whether one more LOCATE may be sent: an owner closes the connection of a reader that holds too
   * many leases.
   *
   * @param returns leases that are not on their way back yet; a LOCATE takes a frame's list of them
   */
  boolean admits(int returns) {
    int held = open + Math.max(0, returns - WireLimits.RELEASES_PER_FRAME);
    return held < mostLeases && (!isShort() || open < MOST_WHEN_SHORT);
  }

  void asked() {
    open++;
  }

  /**
   * @param answers how many of the keys of a LOCATE were answered
   */
  void answered(int keys, int answers) {
    mostKeys =
        answers < keys
            ? Math.max(LEAST_KEYS, 2 * answers)
            : Math.min(WireLimits.KEYS_PER_LOCATE, 2 * mostKeys);
  }

  /** All that a LOCATE brought was read or given up. */
  void ended() {
    open--;
  }
}
