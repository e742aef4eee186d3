package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.FallbackReason;

/** What becomes of blocks: counts it, and reports each index once. Progress thread only. */
final class Outcomes {
  private final Deliveries deliveries;
  private final LandingMemory memory;
  private final Counters counters;

  Outcomes(Deliveries deliveries, LandingMemory memory, Counters counters) {
    this.deliveries = deliveries;
    this.memory = memory;
    this.counters = counters;
  }

  /** All READs of a block have completed; takes over the memory they filled. */
  void landed(PendingBlock pending, Slice first) {
    if (pending.isGivenUp()) {
      first.releaseAll();
    } else {
      arrived(pending.fetch(), pending.index(), memory.block(pending, first));
    }
  }

  /** All of a block was copied to overflow memory; takes over what it fills. */
  void copiedOut(PendingBlock pending, Slice first) {
    counters.increment(Counter.BLOCKS_COPIED_OUT);
    landed(pending, first);
  }

  /** A block is here. One on the heap needs no closing, should nobody want it. */
  void arrived(Fetch fetch, int index, Block block) {
    if (fetch.report(index)) {
      count(block);
      deliveries.add(fetch, index, block);
    }
  }

  void fallBack(Fetch fetch, int index, FallbackReason reason) {
    if (fetch.report(index)) {
      tell(fetch, new int[] {index}, reason);
    }
  }

  /** Gives up all that is not reported yet. */
  void fallBackRest(Fetch fetch, FallbackReason reason) {
    tell(fetch, fetch.reportRest(), reason);
  }

  /** Gives up all whose READs are not on their way. */
  void fallBackWaiting(Fetch fetch, FallbackReason reason) {
    tell(fetch, fetch.reportWaiting(), reason);
  }

  void flush() {
    deliveries.flush();
  }

  private void tell(Fetch fetch, int[] indices, FallbackReason reason) {
    if (indices.length > 0) {
      counters.fellBack(reason, indices.length);
      deliveries.add(fetch, indices, reason);
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
