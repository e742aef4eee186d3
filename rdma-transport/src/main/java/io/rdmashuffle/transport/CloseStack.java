package io.rdmashuffle.transport;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Things to close, last opened first. Serves half-built constructions (close it on failure, {@link
 * #handOver()} on success) and finished objects that own several parts.
 *
 * <p><b>Threads:</b> one at a time. <b>Errors:</b> every part is closed whatever an earlier one
 * throws; the first failure is thrown with the later ones suppressed.
 */
public final class CloseStack implements AutoCloseable {
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();

  /** Takes over {@code part} and returns it, so that it can be pushed where it is created. */
  public <T extends AutoCloseable> T push(T part) {
    parts.push(part);
    return part;
  }

  /** Moves every part to a new stack and leaves this one empty: closing it then does nothing. */
  public CloseStack handOver() {
    CloseStack heir = new CloseStack();
    heir.parts.addAll(parts);
    parts.clear();
    return heir;
  }

  private static void suppress(Throwable first, Throwable later) {
    try {
      first.addSuppressed(later);
    } catch (OutOfMemoryError noMemory) {
      // allow(swallow): the first is thrown in any case, and the rest has to be closed
      Thread.onSpinWait();
    }
  }

  /** Idempotent. A checked failure of a part is wrapped, as closing has no caller to retry it. */
  @Override
  public void close() {
    Throwable first = null;
    while (!parts.isEmpty()) {
      try {
        parts.pop().close();
      } catch (Throwable e) { // the rest is closed whatever it is
        if (e instanceof InterruptedException) {
          Thread.currentThread().interrupt();
        }
        if (first == null) {
          first = e;
        } else if (first != e) {
          suppress(first, e);
        }
      }
    }
    if (first instanceof Error error) {
      throw error;
    } else if (first instanceof RuntimeException unchecked) {
      throw unchecked;
    } else if (first != null) {
      throw new IllegalStateException(first);
    }
  }
}
