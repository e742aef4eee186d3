package io.rdmashuffle.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Bytes that only their place decides, cheap to make and to compare: no two words are equal. */
final class Pattern {
  private static final long ODD = 0x9E37_79B9_7F4A_7C15L;

  private Pattern() {}

  /**
   * @param bytes a multiple of 8
   */
  static byte[] block(int number, int bytes) {
    ByteBuffer content = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (long word = (long) number * bytes / Long.BYTES; content.hasRemaining(); word++) {
      content.putLong((word + 1) * ODD);
    }
    return content.array();
  }
}
