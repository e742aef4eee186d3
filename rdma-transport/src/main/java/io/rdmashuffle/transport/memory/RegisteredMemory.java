package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import java.nio.ByteBuffer;

/**
 * A piece of anonymous memory, its registration and its part of the budget, as one thing with one
 * owner. Made by {@link MemorySource#allocate}.
 *
 * <p><b>Threads:</b> any; deregistering and closing are slow, not for the progress thread, and
 * exclude each other: memory must not be unmapped by one thread while another still deregisters it.
 * <b>Errors:</b> a view used after {@link #close} kills the process.
 */
public final class RegisteredMemory implements SlabMemory {
  private final CloseStack rest; // region, mapping, then reservation
  private final Mapping mapping;
  private final MemoryRegion region;

  RegisteredMemory(CloseStack rest, Mapping mapping, MemoryRegion region) {
    this.rest = rest;
    this.mapping = mapping;
    this.region = region;
  }

  @Override
  public long address() {
    return mapping.address();
  }

  public long bytes() {
    return mapping.bytes();
  }

  @Override
  public int lkey() {
    return region.lkey();
  }

  @Override
  public int rkey() {
    return region.rkey();
  }

  @Override
  public ByteBuffer view(long offsetBytes, int bytes) {
    return mapping.view(offsetBytes, bytes);
  }

  /**
   * Takes it from the adapter and leaves it mapped: for memory that somebody here still looks at
   * when the adapter is to be closed. Idempotent.
   */
  @Override
  public synchronized void deregister() {
    region.close();
  }

  /** Deregisters, unmaps, and gives the reservation back, in this order. Idempotent. */
  @Override
  public synchronized void close() {
    deregister();
    rest.close();
  }
}
