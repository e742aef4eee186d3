package io.rdmashuffle.transport.client;

import java.util.concurrent.CompletableFuture;

/**
 * Counts what is under way on other threads or at the adapter, so that closing can wait for it.
 * Progress thread only.
 */
final class Outstanding {
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private int count;
  private boolean closing;

  void begin() {
    count++;
  }

  void end() {
    if (count == 0) {
      throw new IllegalStateException("ended more often than begun");
    }
    count--;
    check();
  }

  /** From now on the end of the last one is the end of all. */
  void close() {
    closing = true;
    check();
  }

  /** Completes when nothing is under way any more, after {@link #close}. */
  CompletableFuture<Void> ended() {
    return ended;
  }

  private void check() {
    if (closing && count == 0) {
      ended.complete(null);
    }
  }
}
