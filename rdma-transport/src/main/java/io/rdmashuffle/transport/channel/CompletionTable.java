package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.WorkCompletions;
import java.util.Arrays;

/**
 * Finds the connection that a work completion belongs to, by wr_id alone: the only other field that
 * a failed completion has, the number of the queue pair, may by then belong to a new one.
 *
 * <p>A wr_id is 32 bits of generation, 16 of slot and 16 of operation. A slot's generation changes
 * with its owner, so that completions left in the queue when a queue pair is destroyed reach
 * nobody. Progress thread only.
 */
final class CompletionTable {
  /** One more than the largest operation number. */
  static final int OPERATIONS = 1 << 16;

  private static final int SLOTS = 1 << 16;

  private CompletionSink[] sinks = new CompletionSink[64];
  private int[] generations = new int[64];
  private int size;

  /** Returns a slot for {@link #wrId}; give it back with {@link #remove}. */
  int add(CompletionSink sink) {
    int slot = freeSlot();
    sinks[slot] = sink;
    size++;
    return slot;
  }

  private int freeSlot() {
    for (int slot = 0; slot < sinks.length; slot++) {
      if (sinks[slot] == null) {
        return slot;
      }
    }
    if (sinks.length == SLOTS) {
      throw new IllegalStateException(SLOTS + " connections");
    }
    int slot = sinks.length;
    sinks = Arrays.copyOf(sinks, slot * 2);
    generations = Arrays.copyOf(generations, slot * 2);
    return slot;
  }

  void remove(int slot) {
    sinks[slot] = null;
    generations[slot]++;
    size--;
  }

  int size() {
    return size;
  }

  long wrId(int slot, int op) {
    return (long) generations[slot] << 32 | (long) slot << 16 | op;
  }

  /** Returns false if the completion is of a connection that is gone. */
  boolean dispatch(WorkCompletions completions, int i) {
    long wrId = completions.wrId(i);
    int slot = (int) (wrId >>> 16) & (SLOTS - 1);
    if (slot >= sinks.length || sinks[slot] == null || generations[slot] != (int) (wrId >>> 32)) {
      return false;
    }
    int op = (int) wrId & (OPERATIONS - 1);
    sinks[slot].onCompletion(
        op, completions.status(i), completions.bytes(i), completions.vendorError(i));
    return true;
  }
}
