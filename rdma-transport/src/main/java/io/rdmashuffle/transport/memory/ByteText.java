package io.rdmashuffle.transport.memory;

/** Sizes as people write them. */
public final class ByteText {
  private static final String[] UNITS = {"bytes", "KiB", "MiB", "GiB", "TiB"};

  private ByteText() {}

  /** Exact, in the largest unit that needs no fraction; "unlimited" for {@link Long#MAX_VALUE}. */
  public static String of(long bytes) {
    if (bytes == Long.MAX_VALUE) {
      return "unlimited";
    }
    long value = bytes;
    int unit = 0;
    while (value != 0 && value % 1024 == 0 && unit < UNITS.length - 1) {
      value /= 1024;
      unit++;
    }
    return value + " " + UNITS[unit];
  }
}
