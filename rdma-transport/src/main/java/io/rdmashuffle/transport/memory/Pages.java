package io.rdmashuffle.transport.memory;

/**
 * Alignment to the host's pages, which may be 4 KiB or 64 KiB. Any thread.
 *
 * @param pageBytes a power of two
 */
public record Pages(int pageBytes) {
  public Pages {
    if (Integer.bitCount(pageBytes) != 1) {
      throw new IllegalArgumentException("page of " + pageBytes + " bytes is no power of two");
    }
  }

  /** The start of the page that holds this offset. */
  public long down(long offsetBytes) {
    return offsetBytes & -pageBytes;
  }

  /**
   * The end of the last page that holds a byte before this offset.
   *
   * @throws ArithmeticException if that is no long
   */
  public long up(long offsetBytes) {
    return down(Math.addExact(offsetBytes, pageBytes - 1));
  }

  public boolean isAligned(long offsetBytes) {
    return down(offsetBytes) == offsetBytes;
  }
}
