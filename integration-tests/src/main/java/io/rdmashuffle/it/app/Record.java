package io.rdmashuffle.it.app;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Records that tell by themselves whether they are right: a seed, then what follows from it. */
final class Record {
  private Record() {}

  static byte[] of(long seed, int length) {
    byte[] bytes = Digest.bytes(seed, length);
    ByteBuffer.wrap(bytes).putLong(seed);
    return bytes;
  }

  static boolean isRight(byte[] record) {
    long seed = ByteBuffer.wrap(record).getLong();
    return Arrays.equals(record, of(seed, record.length));
  }

  static long seed(byte[] record) {
    if (!isRight(record)) {
      throw new IllegalStateException("wrong bytes in a record of " + record.length);
    }
    return ByteBuffer.wrap(record).getLong();
  }
}
