package io.rdmashuffle.transport.wire;

import io.rdmashuffle.transport.wire.Reply.Answer;
import io.rdmashuffle.transport.wire.Reply.Granted;
import io.rdmashuffle.transport.wire.Reply.Inline;

/**
 * How much room answers take in a {@link Reply.Located}, so that an owner can stop before the frame
 * is full: answers whose {@link #atMostBytes} add up to no more than {@link #ANSWERS_BYTES} fit. An
 * upper bound, for numbers are encoded with a variable length. Any thread.
 */
public final class WireSizes {
  private static final int COUNT_BYTES = 2;
  private static final int LEASE_BYTES = 9;

  /** One piece: address, rkey and length at their longest. */
  private static final int PIECE_BYTES = 9 + 4 + 5;

  private static final int TAG_BYTES = 1;

  /** Room for answers in one reply. */
  public static final int ANSWERS_BYTES =
      WireLimits.FRAME_BYTES - WireLimits.HEADER_BYTES - LEASE_BYTES - COUNT_BYTES;

  private WireSizes() {}

  /** The most that the answer can take. */
  public static int atMostBytes(Answer answer) {
    if (answer instanceof Granted granted) {
      return grantedBytes(granted.attribute(), granted.pieces().size());
    }
    if (answer instanceof Inline inline) {
      return inlineBytes(inline.attribute(), inline.bytes().length);
    }
    return TAG_BYTES + 1;
  }

  /** The most that a granted block of so many pieces can take. */
  public static int grantedBytes(long attribute, int pieces) {
    return TAG_BYTES + attributeBytes(attribute) + COUNT_BYTES + pieces * PIECE_BYTES;
  }

  /** What a block of that length takes inside a reply. */
  public static int inlineBytes(long attribute, int blockBytes) {
    return TAG_BYTES + attributeBytes(attribute) + COUNT_BYTES + blockBytes;
  }

  /** Seven bits to a byte, but for the ninth, which takes eight. */
  private static int attributeBytes(long attribute) {
    int bits = Long.SIZE - Long.numberOfLeadingZeros(attribute);
    return Math.max(1, Math.min(9, (bits + 6) / 7));
  }
}
