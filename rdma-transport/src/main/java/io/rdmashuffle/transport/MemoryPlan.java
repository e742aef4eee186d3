package io.rdmashuffle.transport;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.memory.ByteText;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.memory.Pages;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.util.List;

/**
 * Divides what may be registered among its uses. Small budgets get small chunks, so that there are
 * always enough of them.
 *
 * @param budget of the process
 * @param pool the shape of the memory that blocks are read into; means nothing to an owner
 * @param staging the shape of the memory that blocks are copied into for others, per domain; means
 *     nothing to a reader
 * @param overflow the shape of the ordinary memory that blocks are copied to when the pool is full;
 *     means nothing to an owner
 * @param wantedBytes what the settings ask for altogether
 */
record MemoryPlan(
    MemoryBudget budget,
    ChunkPoolSettings pool,
    ChunkPoolSettings staging,
    ChunkPoolSettings overflow,
    long wantedBytes) {
  private static final int STAGING_PERCENT = 50;
  private static final int STAGING_CHUNK_BYTES = 128 << 10;

  /**
   * @throws TransportException of kind CONFIG if there is no room for the messages of one
   *     connection: a process with that budget never reads or serves a block
   */
  static MemoryPlan of(HostMemory host, TransportSettings settings, Role role)
      throws TransportException {
    MemoryBudget budget =
        MemoryBudget.of(
            List.of(MemoryBudget.Bound.memlock(host.memlockBytes()), settings.memory()),
            role.guaranteedPercent());
    guaranteeOneConnection(
        budget, new Pages(host.pageBytes()).up(settings.channel().messageBytes()));
    return new MemoryPlan(
        budget,
        poolOf(budget, settings, role),
        stagingOf(budget, settings),
        overflowOf(budget, settings),
        role.wantedBytes(settings));
  }

  private static void guaranteeOneConnection(MemoryBudget budget, long bytes)
      throws TransportException {
    if (!budget.guarantee(Use.MESSAGES, bytes)) {
      throw new TransportException(
          Kind.CONFIG,
          "no connection has room: its messages take "
              + ByteText.of(bytes)
              + " of registered memory, and of "
              + ByteText.of(budget.limitBytes())
              + " ("
              + budget.bound().name()
              + ") "
              + ByteText.of(budget.availableBytes(Use.MESSAGES))
              + " are left for them; "
              + budget.bound().remedy());
    }
  }

  private static ChunkPoolSettings poolOf(
      MemoryBudget budget, TransportSettings settings, Role role) {
    long most = budget.limitBytes() / 100 * role.poolPercent();
    return ChunkPoolSettings.fitting(
        Math.min(settings.client().poolBytes(), most),
        settings.client().chunkBytes(),
        settings.client().transitShare());
  }

  private static ChunkPoolSettings stagingOf(MemoryBudget budget, TransportSettings settings) {
    long most = budget.limitBytes() / 100 * STAGING_PERCENT;
    return ChunkPoolSettings.fitting(
        Math.min(settings.server().stagingBytes(), most), STAGING_CHUNK_BYTES, 0);
  }

  /** Nothing of it is reserved: no READ lands there. */
  private static ChunkPoolSettings overflowOf(MemoryBudget budget, TransportSettings settings) {
    return ChunkPoolSettings.fitting(
        settings.overflow().bytes(budget.limitBytes()), settings.client().chunkBytes(), 0);
  }

  /** One line for the log at start: what may be taken, and what would raise it. */
  String describe(Role role) {
    String registered = budget.describe(wantedBytes);
    return role.reads()
        ? registered + "; overflow memory of blocks: up to " + ByteText.of(overflow.bytes())
        : registered;
  }
}
