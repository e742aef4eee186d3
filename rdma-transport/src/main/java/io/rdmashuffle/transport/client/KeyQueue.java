package io.rdmashuffle.transport.client;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The keys that an owner has still to be asked for, taken from the fetches in turn, so that a long
 * one does not keep the others waiting. Progress thread only.
 */
final class KeyQueue {
  /** Keys that one fetch gets into a frame before the next fetch has its turn. */
  static final int TURN_KEYS = 32;

  private final Deque<Fetch> turns = new ArrayDeque<>();
  private final Deque<LeftOut> leftOut = new ArrayDeque<>();

  void add(Fetch fetch) {
    turns.add(fetch);
  }

  /** The owner answered only the first keys of a frame: the rest goes first into the next. */
  void askAgain(LocateFrame frame, int from) {
    leftOut.add(new LeftOut(frame, from));
  }

  /** Puts as many keys into the frame as it holds. It stays empty if there are none. */
  void fill(LocateFrame frame) {
    while (!frame.isFull() && !leftOut.isEmpty()) {
      if (leftOut.peek().moveTo(frame)) {
        leftOut.poll();
      }
    }
    while (!frame.isFull() && !turns.isEmpty()) {
      Fetch fetch = turns.poll();
      for (int n = 0; n < TURN_KEYS && !frame.isFull() && fetch.hasUnlocated(); n++) {
        frame.add(fetch, fetch.nextUnlocated());
      }
      if (fetch.hasUnlocated()) {
        turns.add(fetch);
      }
    }
  }

  /** The unanswered end of a frame. */
  private static final class LeftOut {
    private final LocateFrame frame;
    private int next;

    LeftOut(LocateFrame frame, int from) {
      this.frame = frame;
      this.next = from;
    }

    /** Returns whether nothing is left. */
    boolean moveTo(LocateFrame other) {
      for (; next < frame.size() && !other.isFull(); next++) {
        if (!frame.fetch(next).isReported(frame.index(next))) {
          other.add(frame.fetch(next), frame.index(next));
        }
      }
      return next == frame.size();
    }
  }
}
