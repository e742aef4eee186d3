package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ReaderChannel.ReplyHandler;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.WireLimits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One LOCATE: whose keys it asks for, and the lease on what was granted, which is given back when
 * the last of its blocks has been read or given up. Progress thread only.
 */
final class LocateFrame implements ReplyHandler {
  private final Session session;
  private final int mostKeys;
  private Fetch[] fetches = new Fetch[16];
  private int[] indices = new int[16];
  private int size;
  private long lease;
  private int blocksLeft;

  /**
   * @param mostKeys at most {@link WireLimits#KEYS_PER_LOCATE}
   */
  LocateFrame(Session session, int mostKeys) {
    this.session = session;
    this.mostKeys = mostKeys;
  }

  void add(Fetch fetch, int index) {
    if (size == fetches.length) {
      fetches = Arrays.copyOf(fetches, 2 * size);
      indices = Arrays.copyOf(indices, 2 * size);
    }
    fetches[size] = fetch;
    indices[size] = index;
    size++;
  }

  int size() {
    return size;
  }

  boolean isFull() {
    return size == mostKeys;
  }

  Fetch fetch(int position) {
    return fetches[position];
  }

  int index(int position) {
    return indices[position];
  }

  List<BlockKey> keys() {
    List<BlockKey> keys = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      keys.add(fetches[i].key(indices[i]));
    }
    return keys;
  }

  /**
   * The owner granted something.
   *
   * @param blocks how many blocks; {@link #blockEnded} is called for each
   */
  void granted(long newLease, int blocks) {
    lease = newLease;
    blocksLeft = blocks;
    if (blocks == 0) {
      session.ended(lease);
    }
  }

  void blockEnded() {
    blocksLeft--;
    if (blocksLeft == 0) {
      session.ended(lease);
    }
  }

  @Override
  public void onReply(Reply reply) {
    session.located(this, reply);
  }

  @Override
  public void onFailed(TransportException cause) {
    // The channel is closing: the session gives up all its fetches when that is done.
  }
}
