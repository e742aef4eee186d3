package io.rdmashuffle.transport.server;

/**
 * Bounds the keys that are being looked up: each takes about 250 bytes of heap until it is
 * answered. A domain gets half of what the others leave, so that there is always room for another.
 * A LOCATE finds room for at least one key, and the reader asks again for those that find none.
 * Progress thread only.
 */
final class KeyRoom {
  private int used;

  /** The part of one domain. */
  final class Share {
    private int own;

    /** Takes room for up to so many keys, at least one. Returns for how many. */
    int take(int wanted) {
      int left = (ServerSettings.MOST_KEYS - (used - own)) / 2 - own;
      int taken = Math.max(1, Math.min(wanted, left));
      own += taken;
      used += taken;
      return taken;
    }

    void giveBack(int keys) {
      own -= keys;
      used -= keys;
    }
  }
}
