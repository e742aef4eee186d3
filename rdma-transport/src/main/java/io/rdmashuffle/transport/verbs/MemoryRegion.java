package io.rdmashuffle.transport.verbs;

/**
 * A registered range of this process's memory. Accessors: any thread. Closing deregisters it
 * (ibv_dereg_mr(3)): slow, not for the progress thread. Once {@link #close} has returned, the
 * adapter touches the memory no more, and READs that name the region fail at the peer.
 */
public interface MemoryRegion extends AutoCloseable {
  long address();

  long bytes();

  int lkey();

  int rkey();

  /** Idempotent. */
  @Override
  void close();
}
