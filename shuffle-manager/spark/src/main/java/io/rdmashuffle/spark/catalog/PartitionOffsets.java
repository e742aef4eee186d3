package io.rdmashuffle.spark.catalog;

/**
 * Where each partition of one map output begins: n + 1 ascending offsets for n partitions.
 * Immutable. Four bytes each for files below 4 GiB, because an executor may own millions.
 */
abstract sealed class PartitionOffsets {

  /**
   * @param lengths one per partition, not negative
   * @throws IllegalArgumentException if a length is negative or the sum overflows
   */
  static PartitionOffsets ofLengths(long[] lengths) {
    long[] offsets = new long[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      offsets[i + 1] = offsets[i] + lengths[i];
      if (offsets[i + 1] < offsets[i]) {
        throw new IllegalArgumentException("partition " + i + " has length " + lengths[i]);
      }
    }
    return of(offsets);
  }

  /** Takes {@code offsets} over; they begin with 0 and ascend. */
  static PartitionOffsets of(long[] offsets) {
    return offsets[offsets.length - 1] <= Ints.MOST ? new Ints(offsets) : new Longs(offsets);
  }

  abstract int partitions();

  /**
   * @param index 0 to {@link #partitions()}, the last being the end of the file
   */
  abstract long offsetBytes(int index);

  final long totalBytes() {
    return offsetBytes(partitions());
  }

  private static final class Ints extends PartitionOffsets {
    static final long MOST = 0xFFFF_FFFFL;
    private final int[] unsigned;

    Ints(long[] offsets) {
      unsigned = new int[offsets.length];
      for (int i = 0; i < offsets.length; i++) {
        unsigned[i] = (int) offsets[i];
      }
    }

    @Override
    int partitions() {
      return unsigned.length - 1;
    }

    @Override
    long offsetBytes(int index) {
      return Integer.toUnsignedLong(unsigned[index]);
    }
  }

  private static final class Longs extends PartitionOffsets {
    private final long[] offsets;

    Longs(long[] offsets) {
      this.offsets = offsets;
    }

    @Override
    int partitions() {
      return offsets.length - 1;
    }

    @Override
    long offsetBytes(int index) {
      return offsets[index];
    }
  }
}
