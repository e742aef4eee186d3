package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds blocks that became unreachable without having been closed, and takes their memory back.
 * Progress thread only.
 */
final class LostBlocks {
  private static final Logger LOG = LoggerFactory.getLogger(LostBlocks.class);

  private final Counters counters;
  private final ReferenceQueue<LandedBlock> unreachable = new ReferenceQueue<>();
  private boolean logged;

  LostBlocks(Counters counters) {
    this.counters = counters;
  }

  /** Where the collector reports blocks. */
  ReferenceQueue<LandedBlock> unreachable() {
    return unreachable;
  }

  /** Takes back the memory of blocks that nobody can close any more. */
  void reclaim() {
    for (Reference<? extends LandedBlock> lost = unreachable.poll();
        lost != null;
        lost = unreachable.poll()) {
      reclaim((LandedMemory) lost);
    }
  }

  private void reclaim(LandedMemory lost) {
    if (lost.isClosed()) {
      return;
    }
    counters.increment(Counter.BLOCKS_LOST);
    if (!logged) {
      logged = true;
      LOG.warn(
          "Block {} was dropped without being closed{}; further ones are only counted ({})",
          lost.name(),
          lost.isLent() ? " while a buffer over it may be in use: its memory stays taken" : "",
          Counter.BLOCKS_LOST.label());
    }
    if (!lost.isLent()) {
      lost.close();
    }
  }
}
