package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Divides the memory for copies among the domains that have readers. One alone may have all that
 * the settings allow; several have equal parts of what the budget guarantees to copies, so that
 * windows cannot take it from them, and none of them can take it from another; but a few chunks
 * each. One without readers gives back what it has. Progress thread only.
 */
final class StagingShares {
  /** Enough for a block of half of that, and for others beside it. */
  static final int FEWEST_CHUNKS = 16;

  private final ChunkPoolSettings shape;
  private final long guaranteedChunks;
  private final Set<Staging> used = new LinkedHashSet<>();

  /**
   * @param shape of each domain's memory, at most
   */
  StagingShares(MemoryBudget budget, ChunkPoolSettings shape) {
    this.shape = shape;
    long guaranteed = budget.guaranteedBytes(MemoryBudget.Use.STAGING) / shape.chunkBytes();
    this.guaranteedChunks = guaranteed == 0 ? shape.maxChunks() : guaranteed;
  }

  /** The domain has readers from now on, or has none any more. */
  void setUsed(Staging staging, boolean isUsed) {
    boolean changed = isUsed ? used.add(staging) : used.remove(staging);
    if (!changed) {
      return;
    }
    if (!isUsed) {
      staging.limitTo(0);
    }
    int share = shareChunks();
    List.copyOf(used).forEach(s -> s.limitTo(share));
  }

  private int shareChunks() {
    if (used.size() <= 1) {
      return shape.maxChunks();
    }
    long part = Math.max(FEWEST_CHUNKS, guaranteedChunks / used.size());
    return (int) Math.min(shape.maxChunks(), part);
  }
}
