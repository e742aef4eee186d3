package io.rdmashuffle.transport.server;

/**
 * A block as a range of a map-output file.
 *
 * @param file the file
 * @param offsetBytes not negative
 * @param bytes not negative; offset + bytes is at most the file's length
 * @param attribute a number of the catalog's own, which readers get with the block, however it
 *     comes to them; small ones take less room
 */
public record BlockLocation(OutputFile file, long offsetBytes, long bytes, long attribute) {
  /**
   * @throws IllegalArgumentException if the range leaves the file
   */
  public BlockLocation {
    if (offsetBytes < 0 || bytes < 0 || offsetBytes > file.bytes() - bytes) {
      throw new IllegalArgumentException(
          "range " + offsetBytes + "+" + bytes + " of " + file.path() + ", " + file.bytes());
    }
  }

  /** Of a catalog that has nothing else to say of its blocks. */
  public BlockLocation(OutputFile file, long offsetBytes, long bytes) {
    this(file, offsetBytes, bytes, 0);
  }
}
