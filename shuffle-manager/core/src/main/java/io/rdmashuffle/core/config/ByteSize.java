package io.rdmashuffle.core.config;

import java.util.Locale;

/**
 * A number of bytes as users write it: {@code 65536}, {@code 64k}, {@code 16m}, {@code 1g}, also
 * {@code 64kb} and {@code 64KiB}, always in powers of 1024. Immutable.
 *
 * @param bytes not negative
 */
public record ByteSize(long bytes) implements Comparable<ByteSize> {
  private static final String[] UNITS = {"B", "KiB", "MiB", "GiB", "TiB"};

  public ByteSize {
    if (bytes < 0) {
      throw new IllegalArgumentException("negative size " + bytes);
    }
  }

  public static ByteSize bytes(long count) {
    return new ByteSize(count);
  }

  public static ByteSize kib(long count) {
    return new ByteSize(Math.multiplyExact(count, 1L << 10));
  }

  public static ByteSize mib(long count) {
    return new ByteSize(Math.multiplyExact(count, 1L << 20));
  }

  public static ByteSize gib(long count) {
    return new ByteSize(Math.multiplyExact(count, 1L << 30));
  }

  /**
   * @throws IllegalArgumentException if the text is not a size, or more than a long can hold
   */
  public static ByteSize parse(String text) {
    String lower = text.trim().toLowerCase(Locale.ROOT);
    int digits = 0;
    while (digits < lower.length() && Character.isDigit(lower.charAt(digits))) {
      digits++;
    }
    int shift =
        switch (lower.substring(digits).trim()) {
          case "", "b" -> 0;
          case "k", "kb", "kib" -> 10;
          case "m", "mb", "mib" -> 20;
          case "g", "gb", "gib" -> 30;
          case "t", "tb", "tib" -> 40;
          default -> throw new IllegalArgumentException("not a size: " + text);
        };
    try {
      return new ByteSize(
          Math.multiplyExact(Long.parseLong(lower.substring(0, digits)), 1L << shift));
    } catch (NumberFormatException | ArithmeticException e) {
      throw new IllegalArgumentException("not a size: " + text, e);
    }
  }

  /** As an int, for sizes whose range keeps them below 2 GiB. */
  public int intBytes() {
    return Math.toIntExact(bytes);
  }

  @Override
  public int compareTo(ByteSize other) {
    return Long.compare(bytes, other.bytes);
  }

  /** In the largest unit that divides it: {@code 16 MiB}. */
  @Override
  public String toString() {
    long count = bytes;
    int unit = 0;
    while (count != 0 && count % 1024 == 0 && unit < UNITS.length - 1) {
      count /= 1024;
      unit++;
    }
    return count + " " + UNITS[unit];
  }
}
