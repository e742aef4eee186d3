package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The memory of fetched blocks. While the pool of registered memory has room, blocks stay where
 * they landed. Else they pass through a reserved part of the pool, which nobody holds for longer
 * than one READ and one copy, into overflow memory: ordinary memory outside the Java heap with a
 * limit of its own. Nobody ever waits for what consumers hold: what finds no room in either does
 * not come by RDMA.
 *
 * <p>Blocks that became unreachable without having been closed are found here, and their memory is
 * taken back.
 *
 * <p><b>Threads:</b> {@link #returned}, {@link #emptied} and {@link #chunksOut} any, the rest on
 * the progress thread.
 */
final class LandingMemory {
  /** Overflow memory that was not used for so many seconds goes back to the system. */
  private static final int OVERFLOW_REST_S = 10;

  private final ChunkPool pool;
  private final ChunkPool overflowPool;
  private final ChunkCursor easy;
  private final ChunkCursor transit;
  private final ChunkCursor overflow;
  private final Deque<Waiter> waiters = new ArrayDeque<>();
  private final Signal wake;

  /** Chunks out of the pool; holds the references that tell of lost blocks. */
  private final Set<SharedChunk> out = ConcurrentHashMap.newKeySet();

  private final LostBlocks lost;
  private int overflowRestS;

  /**
   * @param pool of registered memory
   * @param overflowPool of ordinary memory, without a reserve
   */
  LandingMemory(ProgressLoop loop, ChunkPool pool, ChunkPool overflowPool, Counters counters) {
    this.wake = new Signal(loop, this::wakeWaiters);
    this.pool = pool;
    this.overflowPool = overflowPool;
    this.lost = new LostBlocks(counters);
    this.easy = new ChunkCursor(() -> shared(pool::tryTake), pool.chunkBytes());
    this.transit = new ChunkCursor(() -> shared(pool::tryTakeReserved), pool.chunkBytes());
    this.overflow = new ChunkCursor(() -> shared(overflowPool::tryTake), overflowPool.chunkBytes());
    pool.onAvailable(this::wakeSoon);
    overflowPool.onAvailable(this::wakeSoon);
  }

  /**
   * Decides where a block goes, and takes room for all of it.
   *
   * @return null if there is no room now
   */
  Landing place(long bytes) {
    Slice room = land(bytes);
    boolean inPlace = room != null;
    if (!inPlace && !isHopeless()) {
      reclaimLost();
      room = beside(bytes);
    }
    return room == null ? null : landing(room, inPlace, bytes);
  }

  private Landing landing(Slice room, boolean inPlace, long bytes) {
    Landing landing = null;
    try {
      landing = inPlace ? new InPlace(room) : new CopiedOut(this, room, bytes);
      return landing;
    } finally {
      if (landing == null) {
        room.releaseAll();
      }
    }
  }

  /** Whether {@link #place} found no room because it is only being mapped. */
  boolean isMakingRoomFor(long bytes) {
    return !isHopeless()
        && missingChunks(overflow, overflowPool, bytes) <= overflowPool.available();
  }

  /** The longest block that there can be room for. */
  long mostBytes() {
    return Math.max(pool.mostBytes(), overflowPool.mostBytes());
  }

  /**
   * Room for a whole block to stay in.
   *
   * @return null if the pool has too little
   */
  Slice land(long bytes) {
    int missing = missingChunks(easy, pool, bytes);
    return missing > 0 && pool.available() < missing ? null : take(easy, bytes);
  }

  /** Room for a whole block in overflow memory, or null. */
  private Slice beside(long bytes) {
    int missing = missingChunks(overflow, overflowPool, bytes);
    boolean fits = missing <= overflowPool.available() && overflowPool.prepare(missing);
    return fits ? take(overflow, bytes) : null;
  }

  private static int missingChunks(ChunkCursor cursor, ChunkPool pool, long bytes) {
    long missing = Math.max(0, bytes - cursor.room(bytes));
    long chunks = (missing + pool.chunkBytes() - 1) / pool.chunkBytes();
    return (int) Math.min(Integer.MAX_VALUE, chunks);
  }

  /** All of it, or null and nothing. */
  private static Slice take(ChunkCursor cursor, long bytes) {
    Slice first = null;
    Slice last = null;
    long left = bytes;
    try {
      while (left > 0) {
        Slice slice = cursor.take(left);
        if (slice == null) {
          return null;
        }
        if (first == null) {
          first = slice;
        } else {
          last.append(slice);
        }
        last = slice;
        left -= slice.bytes();
      }
      return first;
    } finally {
      if (left > 0 && first != null) {
        first.releaseAll();
      }
    }
  }

  /**
   * Room for one READ whose bytes are copied out at once.
   *
   * @return at most the bytes wanted, in one piece; null if there is none now
   */
  Slice transit(int wantedBytes) {
    return transit.take(wantedBytes);
  }

  /** A block whose READs into this memory have completed. */
  LandedBlock block(PendingBlock pending, Slice first) {
    LandedBlock block =
        new LandedBlock(pending.facts(), pending.bytes(), first, lost.unreachable());
    first.chunk().addTenant(block.memory());
    return block;
  }

  /** Whether waiting is vain: no READ can land, as nothing is registered nor can be for now. */
  boolean isHopeless() {
    return pool.registeredBytes() == 0 && pool.available() == 0;
  }

  /** The waiter is called once, when there may be transit memory again. */
  void awaitTransit(Waiter waiter) {
    park(waiter);
    if (transit.isEmpty() || pool.free() > 0) { // came back before somebody was to be woken
      wakeSoon();
    }
  }

  /** The waiter is called once, when the overflow memory that is being mapped is there, or not. */
  void awaitOverflow(Waiter waiter) {
    park(waiter);
    if (!overflowPool.isGrowing()) { // as above
      wakeSoon();
    }
  }

  private void park(Waiter waiter) {
    waiters.add(waiter);
    wake.arm();
  }

  void unpark(Waiter waiter) {
    waiters.remove(waiter);
  }

  /** A chunk has no user any more. */
  void returned(SharedChunk chunk) {
    out.remove(chunk);
    chunk.giveBack();
  }

  /** A chunk may have no user left but its cursor, which can fill it again. */
  void emptied() {
    wakeSoon();
  }

  /** Takes back the memory of blocks that nobody can close any more. */
  void reclaimLost() {
    lost.reclaim();
  }

  /**
   * Lets go of chunks that no block lies in, and of overflow memory that was not used for a while.
   * To be called once a second.
   */
  void trim() {
    easy.trim();
    transit.trim();
    overflow.trim();
    overflowRestS = overflowPool.chunksOut() > 0 ? 0 : overflowRestS + 1;
    if (overflowRestS >= OVERFLOW_REST_S && overflowPool.registeredBytes() > 0) {
      overflowPool.shrink();
    }
  }

  /** Gives back memory that is not needed now, but for the reserve. */
  void shrink() {
    pool.shrink();
    overflowPool.shrink();
  }

  /** From now on each chunk returns with the last block in it. */
  void close() {
    waiters.clear();
    easy.drop();
    transit.drop();
    overflow.drop();
  }

  /** Chunks that blocks lie in, or will. Any thread. */
  int chunksOut() {
    return out.size();
  }

  private SharedChunk shared(Supplier<Chunk> source) {
    Chunk chunk = source.get();
    if (chunk == null) {
      return null;
    }
    SharedChunk shared = null;
    boolean kept = false;
    try {
      shared = new SharedChunk(chunk, this);
      kept = out.add(shared);
      return shared;
    } finally {
      if (!kept) {
        chunk.close();
      }
    }
  }

  private void wakeSoon() {
    wake.raiseIfArmed();
  }

  private void wakeWaiters() {
    for (int n = waiters.size(); n > 0 && !waiters.isEmpty(); n--) {
      waiters.poll().memoryReturned();
    }
  }

  /** Waits for memory. */
  interface Waiter {
    void memoryReturned();
  }
}
