package io.rdmashuffle.transport.server;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What was asked of each slot of a file while it had no window: how much in all, and over which
 * range. Halved once per epoch of {@link Pressure}. However long the file is, a bounded number of
 * slots is remembered, those asked for last. Progress thread only.
 */
final class SlotDemand {
  static final int MOST_SLOTS = 512;

  /** The one not asked for the longest comes first. */
  private final Map<Long, Asked> slots = new LinkedHashMap<>(4, 0.75f, true);

  private int epoch;

  private static final class Asked {
    private long bytes;
    private long from = Long.MAX_VALUE;
    private long to;
  }

  /**
   * Adds a block, or the part of it that lies in the slot.
   *
   * @param from offset in the file
   * @param to behind the last byte
   */
  void add(long slot, long from, long to, int currentEpoch) {
    age(currentEpoch);
    Asked asked = slots.computeIfAbsent(slot, s -> new Asked());
    asked.bytes += Window.chargeOf(to - from);
    asked.from = Math.min(asked.from, from);
    asked.to = Math.max(asked.to, to);
    if (slots.size() > MOST_SLOTS) {
      Iterator<Asked> oldestFirst = slots.values().iterator();
      oldestFirst.next();
      oldestFirst.remove();
    }
  }

  private void age(int currentEpoch) {
    int halvings = Math.min(currentEpoch - epoch, Long.SIZE - 1);
    epoch = currentEpoch;
    if (halvings > 0) {
      slots.values().forEach(asked -> asked.bytes >>= halvings);
      slots.values().removeIf(asked -> asked.bytes == 0);
    }
  }

  /** How much was asked for, counting again what was asked for again. */
  long bytes(long slot) {
    Asked asked = slots.get(slot);
    return asked == null ? 0 : asked.bytes;
  }

  /** How much of that falls to a part of the slot, as if it had been asked for evenly. */
  long shareOf(long slot, long partBytes) {
    long spread = spreadBytes(slot);
    return partBytes >= spread ? bytes(slot) : (long) ((double) bytes(slot) * partBytes / spread);
  }

  /** From the first byte asked for to the last; 0 if there was none. */
  long spreadBytes(long slot) {
    Asked asked = slots.get(slot);
    return asked == null ? 0 : asked.to - asked.from;
  }

  void clear(long slot) {
    slots.remove(slot);
  }
}
