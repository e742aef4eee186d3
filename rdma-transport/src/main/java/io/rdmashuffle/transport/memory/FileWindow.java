package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.verbs.MemoryRegion;

/**
 * Whole pages of one file, mapped and registered so that peers may READ them. Made by {@link
 * FileWindows#open}, whose caller closes it when no peer has a lease on it any more.
 *
 * <p>While it is open the file keeps its disk blocks, even if unlinked. It must not be truncated.
 *
 * <p><b>Threads:</b> accessors any; closing is slow, not for the progress thread.
 */
public final class FileWindow implements AutoCloseable {
  private final CloseStack rest; // mapping, then reservation
  private final MemoryRegion region;
  private final long offsetBytes;

  FileWindow(CloseStack rest, MemoryRegion region, long offsetBytes) {
    this.rest = rest;
    this.region = region;
    this.offsetBytes = offsetBytes;
  }

  /** Where it starts in the file. */
  public long offsetBytes() {
    return offsetBytes;
  }

  public long bytes() {
    return region.bytes();
  }

  /** The address of its first byte. */
  public long address() {
    return region.address();
  }

  public int rkey() {
    return region.rkey();
  }

  /**
   * The address of a range of the file.
   *
   * @throws IndexOutOfBoundsException if the window does not hold all of it
   */
  public long addressOf(long fileOffsetBytes, long bytes) {
    long start = fileOffsetBytes - offsetBytes;
    if (start < 0 || bytes < 0 || bytes > region.bytes() - start) {
      throw new IndexOutOfBoundsException(
          fileOffsetBytes + "+" + bytes + " of a window " + offsetBytes + "+" + region.bytes());
    }
    return region.address() + start;
  }

  /** Deregisters, unmaps, and gives the reservation back, in this order. Idempotent. */
  @Override
  public synchronized void close() {
    region.close();
    rest.close();
  }
}
