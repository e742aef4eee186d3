package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registered memory that READs land in. While the pool is at ease, blocks stay where they
 * landed. Else they pass through a reserved part of the pool, which nobody holds for longer than
 * one READ and one copy: waiting for it never depends on what consumers do.
 *
 * <p>Blocks that became unreachable without having been closed are found here, and their memory is
 * taken back.
 *
 * <p><b>Threads:</b> {@link #returned}, {@link #emptied} and {@link #chunksOut} any, the rest on
 * the progress thread.
 */
final class LandingMemory {
  private static final Logger LOG = LoggerFactory.getLogger(LandingMemory.class);

  private final ProgressLoop loop;
  private final ChunkPool pool;
  private final Counters counters;
  private final ChunkCursor easy;
  private final ChunkCursor transit;
  private final Deque<Waiter> waiters = new ArrayDeque<>();
  private final AtomicBoolean wakeWanted = new AtomicBoolean();

  /** Chunks out of the pool; holds the references that tell of lost blocks. */
  private final Set<SharedChunk> out = ConcurrentHashMap.newKeySet();

  private final ReferenceQueue<LandedBlock> unreachable = new ReferenceQueue<>();
  private boolean leakLogged;

  LandingMemory(ProgressLoop loop, ChunkPool pool, Counters counters) {
    this.loop = loop;
    this.pool = pool;
    this.counters = counters;
    this.easy = new ChunkCursor(() -> shared(pool::tryTake), pool.chunkBytes());
    this.transit = new ChunkCursor(() -> shared(pool::tryTakeReserved), pool.chunkBytes());
    pool.onAvailable(this::wakeSoon);
  }

  /**
   * Room for a whole block to stay in.
   *
   * @return null if the pool is not at ease, or too small
   */
  Slice land(long bytes) {
    int room = easy.room(bytes);
    long missing = Math.max(0, bytes - room);
    long chunks = (missing + pool.chunkBytes() - 1) / pool.chunkBytes();
    if (chunks > 0 && pool.available() < chunks) {
      return null;
    }
    Slice first = null;
    Slice last = null;
    for (long left = bytes; left > 0; left -= last.bytes()) {
      Slice slice = easy.take(left);
      if (slice == null) {
        if (first != null) {
          first.releaseAll();
        }
        return null;
      }
      if (first == null) {
        first = slice;
      } else {
        last.append(slice);
      }
      last = slice;
    }
    return first;
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
    LandedBlock block = new LandedBlock(pending.facts(), pending.bytes(), first, unreachable);
    first.chunk().addTenant(block.memory());
    return block;
  }

  /** Whether waiting is vain: nothing is registered, and nothing can be for now. */
  boolean isHopeless() {
    return pool.registeredBytes() == 0 && pool.available() == 0;
  }

  /** The waiter is called once, when there may be room again. */
  void park(Waiter waiter) {
    waiters.add(waiter);
    wakeWanted.set(true);
    if (transit.isEmpty() || pool.free() > 0) { // came back before somebody was to be woken
      wakeSoon();
    }
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
    for (Reference<? extends LandedBlock> lost = unreachable.poll();
        lost != null;
        lost = unreachable.poll()) {
      reclaim((LandedMemory) lost);
    }
  }

  /** Lets go of chunks that no block lies in. */
  void trim() {
    easy.trim();
    transit.trim();
  }

  /** Gives back registered memory that is not needed now, but for the reserve. */
  void shrink() {
    pool.shrink();
  }

  /** From now on each chunk returns with the last block in it. */
  void close() {
    waiters.clear();
    easy.drop();
    transit.drop();
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
    SharedChunk shared = new SharedChunk(chunk, this);
    out.add(shared);
    return shared;
  }

  private void wakeSoon() {
    if (wakeWanted.compareAndSet(true, false)) {
      loop.execute(this::wake);
    }
  }

  private void wake() {
    for (int n = waiters.size(); n > 0 && !waiters.isEmpty(); n--) {
      waiters.poll().memoryReturned();
    }
  }

  private void reclaim(LandedMemory lost) {
    if (lost.isClosed()) {
      return;
    }
    counters.increment(Counter.BLOCKS_LOST);
    if (!leakLogged) {
      leakLogged = true;
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

  /** Waits for memory. */
  interface Waiter {
    void memoryReturned();
  }
}
