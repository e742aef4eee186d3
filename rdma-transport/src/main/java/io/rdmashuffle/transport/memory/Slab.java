package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory divided into at most 64 chunks, with one bit for each that is free. Any thread, without
 * locks. A slab all of whose chunks are taken at once is retired: nobody can take from it any more,
 * and its memory may be closed.
 */
final class Slab {
  private static final Logger LOG = LoggerFactory.getLogger(Slab.class);
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
   * Adds a slab. Where the kernel or the adapter refuses a whole one, half of it is tried, down to
   * one chunk: a limit may be lower than the one known, and be shared with others.
   *
   * @param mostChunks of it
   * @return the chunks it has
   */
  static int add(List<Slab> slabs, SlabSource source, int chunkBytes, int mostChunks)
      throws TransportException {
    int chunks = mostChunks;
    SlabMemory memory = null;
    while (memory == null) {
      try {
        memory = source.allocate((long) chunks * chunkBytes);
      } catch (VerbsException e) {
        if (chunks == 1) {
          throw e;
        }
        LOG.debug("{}: no slab of {} chunks, trying half of it", source.name(), chunks, e);
        chunks /= 2;
      }
    }
    add(slabs, memory, chunkBytes, chunks);
    return chunks;
  }

  /** Takes over the memory, also if it throws. */
  private static void add(List<Slab> slabs, SlabMemory memory, int chunkBytes, int chunks) {
    boolean added = false;
    try {
      added = slabs.add(new Slab(memory, chunkBytes, chunks));
    } finally {
      if (!added) {
        memory.close();
      }
    }
  }

  /**
   * Takes a retired slab out and closes its memory, also if the list cannot be copied: it stays
   * there, and nothing can be taken from it.
   */
  static void remove(List<Slab> slabs, Slab retired) {
    try {
      slabs.remove(retired);
    } finally {
      retired.memory().close();
    }
  }

  /**
   * Does the same to each slab it is given, whatever it throws for another one. Once it is made it
   * allocates nothing. One thread.
   */
  static final class Each implements Consumer<Slab> {
    private final Consumer<Slab> action;
    private Throwable failure;

    Each(Consumer<Slab> action) {
      this.action = action;
    }

    @Override
    public void accept(Slab slab) {
      try {
        action.accept(slab);
      } catch (RuntimeException | Error e) {
        failure = CloseStack.first(failure, e);
      }
    }

    /** Throws the first failure, if there was one, with the others suppressed. */
    void rethrow() {
      CloseStack.rethrow(failure);
    }
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
