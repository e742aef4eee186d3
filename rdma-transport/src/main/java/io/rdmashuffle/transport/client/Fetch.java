package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.ProgressLoop.Timer;
import io.rdmashuffle.transport.client.BlockClient.FetchListener;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.List;

/**
 * One call of {@link BlockClient#fetch}: which of its blocks were asked for, are being read, and
 * have been reported. That each is reported exactly once is decided here. Progress thread only,
 * once admitted.
 */
final class Fetch {
  /** What became of one index; it only moves down this list. */
  private static final byte WAITING = 0;

  private static final byte READING = 1; // all its READs are posted
  private static final byte REPORTED = 2;

  private final Peer peer;
  private final BlockKey[] keys;
  private final byte[] states;
  private final Delivery delivery;
  private int unreported;
  private int nextUnlocated;
  private Timer deadline;
  private Home home;
  private boolean begunAgain;
  private Fetch before; // of those not settled
  private Fetch after;

  Fetch(Peer peer, List<BlockKey> keys, FetchListener listener) {
    this.peer = peer;
    this.keys = keys.toArray(new BlockKey[0]);
    this.states = new byte[this.keys.length];
    this.delivery = new Delivery(peer, listener, this.keys.length);
    this.unreported = this.keys.length;
  }

  Peer peer() {
    return peer;
  }

  BlockKey key(int index) {
    return keys[index];
  }

  BlockName name(int index) {
    return new BlockName(peer, keys[index]);
  }

  Delivery delivery() {
    return delivery;
  }

  int size() {
    return keys.length;
  }

  /** Starts its time; the timer is cancelled when the last index is reported. */
  void admit(Timer fetchDeadline) {
    deadline = fetchDeadline;
  }

  /** Whoever works on it now, and must be told when there is nothing left to do. */
  void moveTo(Home newHome) {
    home = newHome;
  }

  /**
   * Its connection is gone: asks for what was not read once more.
   *
   * @return false if that was done before
   */
  boolean beginAgain() {
    if (begunAgain) {
      return false;
    }
    begunAgain = true;
    nextUnlocated = 0;
    return true;
  }

  boolean hasUnlocated() {
    while (nextUnlocated < keys.length && states[nextUnlocated] != WAITING) {
      nextUnlocated++;
    }
    return nextUnlocated < keys.length;
  }

  /** The next index to ask the owner for, after {@link #hasUnlocated} said yes. */
  int nextUnlocated() {
    return nextUnlocated++;
  }

  void reading(int index) {
    if (states[index] == WAITING) {
      states[index] = READING;
    }
  }

  /** A READ of it failed: it is not on its way any more. */
  void readFailed(int index) {
    if (states[index] == READING) {
      states[index] = WAITING;
    }
  }

  boolean isReported(int index) {
    return states[index] == REPORTED;
  }

  /**
   * Decides on an index: there is something to deliver. Allocates nothing, as all of this.
   *
   * @param outcome a {@link Block} or a {@link io.rdmashuffle.transport.FallbackReason}
   * @return false if that was decided before
   */
  boolean settle(int index, Object outcome) {
    if (states[index] == REPORTED) {
      return false;
    }
    states[index] = REPORTED;
    delivery.settle(index, outcome);
    unreported--;
    return true;
  }

  /** Decides on everything open. Returns how many that were. */
  int settleRest(FallbackReason reason) {
    return settle(REPORTED, reason);
  }

  /** Decides on everything whose READs are not all posted. */
  int settleWaiting(FallbackReason reason) {
    return settle(READING, reason);
  }

  private int settle(byte below, FallbackReason reason) {
    int count = 0;
    for (int i = 0; i < states.length; i++) {
      if (states[i] < below) {
        settle(i, reason);
        count++;
      }
    }
    return count;
  }

  boolean isSettled() {
    return unreported == 0;
  }

  /** There is nothing left to do. */
  void end() {
    if (deadline != null) {
      deadline.cancel();
    }
    if (home != null) {
      home.fetchEnded(this);
    }
  }

  void link(Fetch older) {
    before = older;
    if (older != null) {
      older.after = this;
    }
  }

  void unlink() {
    if (before != null) {
      before.after = after;
    }
    if (after != null) {
      after.before = before;
    }
    before = null;
    after = null;
  }

  Fetch before() {
    return before;
  }

  /** Where a fetch is being worked on. */
  interface Home {
    void fetchEnded(Fetch fetch);
  }
}
