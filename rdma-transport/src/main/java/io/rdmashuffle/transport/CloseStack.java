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

  /** Of a failure, null if there was none, and a later one the first, with the later suppressed. */
  public static Throwable first(Throwable first, Throwable later) {
    try {
      if (first != null && first != later) {
        first.addSuppressed(later);
      }
    } catch (OutOfMemoryError noMemory) {
      // allow(swallow): the first is thrown in any case, and the rest has to be closed
      Thread.onSpinWait();
    }
    return first == null ? later : first;
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
        first = first(first, e);
      }
    }
    rethrow(first);
  }

  /** Throws it, wrapped if it is checked; null does nothing. */
  public static void rethrow(Throwable failure) {
    if (failure instanceof Error error) {
      throw error;
    } else if (failure instanceof RuntimeException unchecked) {
      throw unchecked;
    } else if (failure != null) {
      throw new IllegalStateException(failure);
    }
  }
}
