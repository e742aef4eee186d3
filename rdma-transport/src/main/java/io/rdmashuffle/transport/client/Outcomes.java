package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.FallbackReason;

/**
 * What becomes of blocks: reports each index once, and counts it. Progress thread only, except
 * {@link #refuse}.
 */
final class Outcomes {
  private final Deliveries deliveries;
  private final LandingMemory memory;
  private final Counters counters;
  private final LiveFetches live = new LiveFetches();

  Outcomes(Deliveries deliveries, LandingMemory memory, Counters counters) {
    this.deliveries = deliveries;
    this.memory = memory;
    this.counters = counters;
  }

  /** A fetch that is worked on from now on. */
  void admit(Fetch fetch) {
    live.add(fetch);
  }

  /** All READs of a block have completed; takes over the memory they filled. */
  void landed(PendingBlock pending, Slice first) {
    if (pending.isGivenUp()) {
      first.releaseAll();
      return;
    }
    Block block = null;
    try {
      block = memory.block(pending, first);
    } finally {
      if (block == null) {
        first.releaseAll();
      }
    }
    arrived(pending.fetch(), pending.index(), block);
  }

  /** All of a block was copied to overflow memory; takes over what it fills. */
  void copiedOut(PendingBlock pending, Slice first) {
    counters.increment(Counter.BLOCKS_COPIED_OUT);
    landed(pending, first);
  }

  /** A block is here. One on the heap needs no closing, should nobody want it. */
  void arrived(Fetch fetch, int index, Block block) {
    if (fetch.settle(index, block)) {
      settled(fetch);
      count(block);
    }
  }

  void fallBack(Fetch fetch, int index, FallbackReason reason) {
    if (fetch.settle(index, reason)) {
      settled(fetch);
      counters.fellBack(reason, 1);
    }
  }

  /** Gives up all that is not reported yet. */
  void fallBackRest(Fetch fetch, FallbackReason reason) {
    fellBack(fetch, fetch.settleRest(reason), reason);
  }

  /** Gives up all whose READs are not on their way. */
  void fallBackWaiting(Fetch fetch, FallbackReason reason) {
    fellBack(fetch, fetch.settleWaiting(reason), reason);
  }

  /** Gives up all that is not reported yet, of every fetch. */
  void fallBackAll(FallbackReason reason) {
    for (Fetch fetch = live.newest(); fetch != null; fetch = live.newest()) {
      fallBackRest(fetch, reason);
    }
  }

  /** A fetch that was never worked on. Any thread. */
  void refuse(Fetch fetch, FallbackReason reason) {
    int count = fetch.settleRest(reason);
    deliveries.deliver(fetch.delivery());
    counters.fellBack(reason, count);
  }

  void flush() {
    deliveries.flush();
  }

  private void fellBack(Fetch fetch, int count, FallbackReason reason) {
    if (count > 0) {
      settled(fetch);
      counters.fellBack(reason, count);
    }
  }

  private void settled(Fetch fetch) {
    deliveries.touch(fetch.delivery());
    if (fetch.isSettled()) {
      live.remove(fetch);
      fetch.end();
    }
  }

  private void count(Block block) {
    switch (block.source()) {
      case READ -> count(Counter.BLOCKS_READ, Counter.BYTES_READ, block.bytes());
      case INLINE -> count(Counter.BLOCKS_INLINE, Counter.BYTES_INLINE, block.bytes());
      case STAGED -> count(Counter.BLOCKS_STAGED, Counter.BYTES_STAGED, block.bytes());
    }
  }

  private void count(Counter blocks, Counter bytes, long payloadBytes) {
    counters.increment(blocks);
    counters.add(bytes, payloadBytes);
  }
}
