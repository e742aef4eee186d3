package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.channel.ProgressLoop.Timer;
import io.rdmashuffle.transport.client.BlockClient.FetchListener;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.Arrays;
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
  private final FetchListener listener;
  private final byte[] states;
  private int unreported;
  private int nextUnlocated;
  private Timer deadline;
  private Home home;

  Fetch(Peer peer, List<BlockKey> keys, FetchListener listener) {
    this.peer = peer;
    this.keys = keys.toArray(new BlockKey[0]);
    this.listener = listener;
    this.states = new byte[this.keys.length];
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

  FetchListener listener() {
    return listener;
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

  boolean hasUnlocated() {
    while (nextUnlocated < keys.length && states[nextUnlocated] == REPORTED) {
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

  boolean isReported(int index) {
    return states[index] == REPORTED;
  }

  /**
   * Claims the right to report an index.
   *
   * @return false if it was reported before
   */
  boolean report(int index) {
    if (states[index] == REPORTED) {
      return false;
    }
    states[index] = REPORTED;
    unreported--;
    if (unreported == 0) {
      end();
    }
    return true;
  }

  /** Claims everything not yet reported. */
  int[] reportRest() {
    return report(REPORTED);
  }

  /** Claims everything whose READs are not all posted. */
  int[] reportWaiting() {
    return report(READING);
  }

  private int[] report(byte below) {
    int[] claimed = new int[unreported];
    int count = 0;
    for (int i = 0; i < states.length; i++) {
      if (states[i] < below) {
        states[i] = REPORTED;
        claimed[count++] = i;
      }
    }
    unreported -= count;
    if (unreported == 0 && count > 0) {
      end();
    }
    return Arrays.copyOf(claimed, count);
  }

  private void end() {
    if (deadline != null) {
      deadline.cancel();
    }
    if (home != null) {
      home.fetchEnded(this);
    }
  }

  /** Where a fetch is being worked on. */
  interface Home {
    void fetchEnded(Fetch fetch);
  }
}
