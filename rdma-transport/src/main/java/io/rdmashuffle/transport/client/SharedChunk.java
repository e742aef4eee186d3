package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A chunk of registered or overflow memory in which several blocks lie. It goes back to the pool
 * when its last user releases it; the cursor that hands out slices of it is a user, too.
 *
 * <p><b>Threads:</b> {@link #release} and the accessors any, the rest on the progress thread.
 */
final class SharedChunk {
  private final Chunk chunk;
  private final LandingMemory home;
  private final AtomicInteger users = new AtomicInteger(1); // the cursor

  /** Keeps the memory of lost blocks reachable, so that the collector can report them. */
  private final List<LandedMemory> tenants = new ArrayList<>();

  SharedChunk(Chunk chunk, LandingMemory home) {
    this.chunk = chunk;
    this.home = home;
  }

  long address() {
    return chunk.address();
  }

  int lkey() {
    return chunk.lkey();
  }

  ByteBuffer view(int offset, int bytes) {
    return chunk.view(offset, bytes);
  }

  SharedChunk retain() {
    users.incrementAndGet();
    return this;
  }

  void release() {
    int left = users.decrementAndGet();
    if (left == 0) {
      home.returned(this);
    } else if (left == 1) {
      home.emptied();
    }
  }

  void addTenant(LandedMemory memory) {
    tenants.add(memory);
  }

  /**
   * Whether only the cursor is left, so that the chunk can be filled again from its start. Nobody
   * but the progress thread adds users.
   */
  boolean isEmpty() {
    return users.get() == 1;
  }

  void reuse() {
    tenants.clear();
  }

  void giveBack() {
    chunk.close();
  }
}
