package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ReaderChannel.ReadHandler;

/**
 * The chains of READs that one connection has posted. READs complete in order, and only the last of
 * a chain is signalled: when that completes, the room of all of them in the send queue is free.
 * Progress thread only.
 */
final class ReadTable {
  private final int maxReads;
  private final FreeList freeChains;
  private final ReadHandler[] handlers;
  private final int[] counts;
  private final long[] deadlinesNs;
  private final long[] postedNs;
  private int posted;

  /**
   * @param maxReads READs posted at a time, and so the most chains
   */
  ReadTable(int maxReads) {
    this.maxReads = maxReads;
    freeChains = new FreeList(0, maxReads);
    handlers = new ReadHandler[maxReads];
    counts = new int[maxReads];
    deadlinesNs = new long[maxReads];
    postedNs = new long[maxReads];
  }

  int credits() {
    return maxReads - posted;
  }

  int posted() {
    return posted;
  }

  /** Takes a slot for a chain that is about to be posted. */
  int take(int count, long nowNs, long deadlineNs, ReadHandler handler) {
    int chain = freeChains.take();
    handlers[chain] = handler;
    counts[chain] = count;
    postedNs[chain] = nowNs;
    deadlinesNs[chain] = deadlineNs;
    posted += count;
    return chain;
  }

  long postedNs(int chain) {
    return postedNs[chain];
  }

  /** Ends a chain that has completed. Returns whom to tell. */
  ReadHandler completed(int chain) {
    ReadHandler handler = handlers[chain];
    handlers[chain] = null;
    posted -= counts[chain];
    freeChains.put(chain);
    return handler;
  }

  /** Time until the first deadline, {@link Long#MAX_VALUE} if there is none. */
  long remainingNs(long nowNs) {
    long least = Long.MAX_VALUE;
    for (int chain = 0; posted != 0 && chain < handlers.length; chain++) {
      if (handlers[chain] != null) {
        least = Math.min(least, deadlinesNs[chain] - nowNs);
      }
    }
    return least;
  }

  /** Tells all that wait; the others again, should one throw. The queue pair is gone. */
  void failAll(TransportException cause) {
    for (int chain = 0; chain < handlers.length; chain++) {
      ReadHandler handler = handlers[chain];
      handlers[chain] = null;
      if (handler != null) {
        handler.onFailed(cause);
      }
    }
    posted = 0;
  }
}
