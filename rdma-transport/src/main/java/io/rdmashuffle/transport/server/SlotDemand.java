package io.rdmashuffle.transport.server;

import java.util.Arrays;

/**
 * What was asked of each slot of a file while it had no window: how much in all, and over which
 * range. Halved once per epoch of {@link Pressure}. Progress thread only.
 */
final class SlotDemand {
  private static final int NUMBERS_PER_SLOT = 3; // bytes, from, to
  private final long[] numbers;
  private int epoch;

  SlotDemand(int slots) {
    numbers = new long[slots * NUMBERS_PER_SLOT];
  }

  /**
   * Adds a block, or the part of it that lies in the slot.
   *
   * @param from offset in the file
   * @param to behind the last byte
   */
  void add(int slot, long from, long to, int currentEpoch) {
    age(currentEpoch);
    int i = slot * NUMBERS_PER_SLOT;
    if (numbers[i] == 0) {
      numbers[i + 1] = from;
      numbers[i + 2] = to;
    } else {
      numbers[i + 1] = Math.min(numbers[i + 1], from);
      numbers[i + 2] = Math.max(numbers[i + 2], to);
    }
    numbers[i] += Window.chargeOf(to - from);
  }

  private void age(int currentEpoch) {
    int halvings = Math.min(currentEpoch - epoch, Long.SIZE - 1);
    epoch = currentEpoch;
    if (halvings > 0) {
      for (int i = 0; i < numbers.length; i += NUMBERS_PER_SLOT) {
        numbers[i] >>= halvings;
      }
    }
  }

  /** How much was asked for, counting again what was asked for again. */
  long bytes(int slot) {
    return numbers[slot * NUMBERS_PER_SLOT];
  }

  /** How much of that falls to a part of the slot, as if it had been asked for evenly. */
  long shareOf(int slot, long partBytes) {
    long spread = spreadBytes(slot);
    return partBytes >= spread ? bytes(slot) : (long) ((double) bytes(slot) * partBytes / spread);
  }

  /** From the first byte asked for to the last; 0 if there was none. */
  long spreadBytes(int slot) {
    int i = slot * NUMBERS_PER_SLOT;
    return numbers[i] == 0 ? 0 : numbers[i + 2] - numbers[i + 1];
  }

  void clear(int slot) {
    int i = slot * NUMBERS_PER_SLOT;
    Arrays.fill(numbers, i, i + NUMBERS_PER_SLOT, 0);
  }
}
