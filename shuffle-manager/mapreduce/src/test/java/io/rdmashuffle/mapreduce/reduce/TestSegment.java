package io.rdmashuffle.mapreduce.reduce;

import java.util.function.LongFunction;

/**
 * A segment that a {@link SegmentServer} serves.
 *
 * @param rawBytes as its index would say
 * @param partBytes as its index would say
 * @param content bytes from an offset on, of which as many are used as are wanted
 */
public record TestSegment(long rawBytes, long partBytes, LongFunction<byte[]> content) {
  /** Of bytes in memory. */
  public static TestSegment of(byte[] bytes, long rawBytes) {
    return new TestSegment(
        rawBytes,
        bytes.length,
        offset -> java.util.Arrays.copyOfRange(bytes, (int) offset, bytes.length));
  }
}
