package io.rdmashuffle.transport.client;

/**
 * Granted blocks whose READs are not all posted, in their order. Adding one allocates nothing, so
 * that none gets lost. Progress thread only.
 */
final class LocatedBlocks {
  private PendingBlock first;
  private PendingBlock last;

  void add(PendingBlock block) {
    if (first == null) {
      first = block;
    } else {
      last.setNext(block);
    }
    last = block;
  }

  /** Null if there is none; {@link PendingBlock#next} leads to the others. */
  PendingBlock first() {
    return first;
  }

  void removeFirst() {
    PendingBlock removed = first;
    first = removed.next();
    removed.setNext(null);
    if (first == null) {
      last = null; // keeps nothing reachable
    }
  }
}
