package io.rdmashuffle.transport.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory divided into at most 64 chunks, with one bit for each that is free. Any thread, without
 * locks. A slab all of whose chunks are taken at once is retired: nobody can take from it any more,
 * and its memory may be closed.
 */
final class Slab {
  static final int MAX_CHUNKS = Long.SIZE;

  private final SlabMemory memory;
  private final int chunkBytes;
  private final long allFree;
  private final AtomicLong free;

  Slab(SlabMemory memory, int chunkBytes, int chunks) {
    this.memory = memory;
    this.chunkBytes = chunkBytes;
    this.allFree = -1L >>> (MAX_CHUNKS - chunks);
    this.free = new AtomicLong(allFree);
  }

  /**
   * Takes the lowest free chunk, so that the others stay together.
   *
   * @return its index, or -1 if none is free
   */
  int tryTake() {
    while (true) {
      long now = free.get();
      if (now == 0) {
        return -1;
      }
      if (free.compareAndSet(now, now & (now - 1))) {
        return Long.numberOfTrailingZeros(now);
      }
    }
  }

  void giveBack(int index) {
    free.accumulateAndGet(1L << index, (now, bit) -> now | bit);
  }

  /** Returns true once, and only if no chunk is out. */
  boolean tryRetire() {
    return free.compareAndSet(allFree, 0);
  }

  int chunks() {
    return Long.bitCount(allFree);
  }

  int freeChunks() {
    return Long.bitCount(free.get());
  }

  int offsetBytes(int index) {
    return index * chunkBytes;
  }

  SlabMemory memory() {
    return memory;
  }
}
