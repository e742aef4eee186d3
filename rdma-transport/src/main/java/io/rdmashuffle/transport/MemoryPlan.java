package io.rdmashuffle.transport;

import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.util.List;

/**
 * Divides what may be registered among its uses. Small budgets get small chunks, so that there are
 * always enough of them.
 *
 * @param budget of the process
 * @param pool the shape of the memory that blocks are read into; means nothing to an owner
 * @param wantedBytes what the settings ask for altogether
 */
record MemoryPlan(MemoryBudget budget, ChunkPoolSettings pool, long wantedBytes) {
  private static final int FEWEST_CHUNKS = 16;
  private static final int SMALLEST_CHUNK_BYTES = 16 << 10;
  private static final int SLAB_BYTES = 16 << 20;
  private static final int SLABS = 4;
  private static final int MOST_CHUNKS_PER_SLAB = 64;

  static MemoryPlan of(HostMemory host, TransportSettings settings, Role role) {
    MemoryBudget budget =
        MemoryBudget.of(
            List.of(MemoryBudget.Bound.memlock(host.memlockBytes()), settings.memory()),
            role.guaranteedPercent());
    return new MemoryPlan(budget, poolOf(budget, settings, role), role.wantedBytes(settings));
  }

  private static ChunkPoolSettings poolOf(
      MemoryBudget budget, TransportSettings settings, Role role) {
    long most = budget.limitBytes() / 100 * role.poolPercent();
    long bytes = Math.max(SMALLEST_CHUNK_BYTES, Math.min(settings.client().poolBytes(), most));
    int chunkBytes = settings.client().chunkBytes();
    while (chunkBytes > SMALLEST_CHUNK_BYTES && bytes / chunkBytes < FEWEST_CHUNKS) {
      chunkBytes /= 2;
    }
    int chunks = (int) Math.max(1, Math.min(Integer.MAX_VALUE, bytes / chunkBytes));
    int perSlab = Math.min(Math.min(MOST_CHUNKS_PER_SLAB, SLAB_BYTES / chunkBytes), chunks / SLABS);
    int reserve = (int) (((long) chunks * settings.client().transitShare() + 99) / 100);
    return new ChunkPoolSettings(
        chunkBytes, Math.max(1, perSlab), chunks, Math.min(reserve, chunks - 1));
  }
}
