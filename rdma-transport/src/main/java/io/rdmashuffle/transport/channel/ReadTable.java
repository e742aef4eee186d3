package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ReaderChannel.ReadHandler;

/**
 * The chains of READs that one connection has posted. READs have numbers, in turn; they complete in
 * that order, and only the last of a chain is signalled: when that completes, the room of all of
 * them in the send queue is free. A failed one is reported wherever in its chain it is.
 *
 * <p>Progress thread only.
 */
final class ReadTable {
  private final int maxReads;
  private final ReadHandler[] handlers; // all by the number of a chain's last READ
  private final int[] counts;
  private final long[] deadlinesNs;
  private final long[] postedNs;
  private int next;
  private int posted;
  private int refusedChain = -1;
  private int refusedRead;

  /**
   * @param maxReads READs posted at a time, and so the most chains
   */
  ReadTable(int maxReads) {
    this.maxReads = maxReads;
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

  /**
   * Takes numbers for a chain that is about to be posted. Returns the first; 0 follows the last.
   */
  int take(int count, long nowNs, long deadlineNs, ReadHandler handler) {
    int first = next;
    int last = (first + count - 1) % maxReads;
    handlers[last] = handler;
    counts[last] = count;
    postedNs[last] = nowNs;
    deadlinesNs[last] = deadlineNs;
    posted += count;
    next = (last + 1) % maxReads;
    return first;
  }

  /**
   * @param last READ of a chain
   */
  long postedNs(int last) {
    return postedNs[last];
  }

  /** Ends the chain whose last READ has completed. Returns whom to tell. */
  ReadHandler completed(int last) {
    ReadHandler handler = handlers[last];
    handlers[last] = null;
    posted -= counts[last];
    return handler;
  }

  /** A READ broke the queue pair: {@link #failAll} tells its chain which it was. */
  void refused(int read) {
    for (int after = 0; after < maxReads; after++) {
      int last = (read + after) % maxReads;
      if (handlers[last] != null) {
        refusedChain = last;
        refusedRead = counts[last] - 1 - after;
        return;
      }
    }
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
      if (handler != null && chain == refusedChain) {
        handler.onRefused(refusedRead, cause);
      } else if (handler != null) {
        handler.onFailed(cause);
      }
    }
    posted = 0;
  }
}
