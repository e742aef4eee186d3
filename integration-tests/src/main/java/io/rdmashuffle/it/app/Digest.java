package io.rdmashuffle.it.app;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.zip.CRC32C;

/** Digests of results that do not depend on the order in which rows arrive. */
final class Digest {
  private Digest() {}

  /** Of rows that say all about themselves in toString. */
  static String of(Collection<?> rows) {
    String[] lines = rows.stream().map(String::valueOf).sorted().toArray(String[]::new);
    return lines.length + " rows, crc " + Long.toHexString(crc(String.join("\n", lines)));
  }

  static long crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return crc.getValue();
  }

  private static long crc(String text) {
    return crc(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Incompressible bytes that only the seed decides. */
  static byte[] bytes(long seed, int length) {
    byte[] bytes = new byte[length];
    new java.util.SplittableRandom(seed).nextBytes(bytes);
    return bytes;
  }

  /** A text for one value of a row. */
  static String text(Object value) {
    return value instanceof byte[] b ? b.length + ":" + Arrays.hashCode(b) : String.valueOf(value);
  }
}
