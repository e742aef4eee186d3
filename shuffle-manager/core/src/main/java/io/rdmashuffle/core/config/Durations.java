package io.rdmashuffle.core.config;

import java.time.Duration;
import java.util.Locale;

/** Durations as users write them: {@code 20us}, {@code 500ms}, {@code 5s}, {@code 1min}. */
final class Durations {
  private Durations() {}

  /**
   * @throws IllegalArgumentException if the text is not a number with a unit
   */
  static Duration parse(String text) {
    String lower = text.trim().toLowerCase(Locale.ROOT);
    int digits = 0;
    while (digits < lower.length() && Character.isDigit(lower.charAt(digits))) {
      digits++;
    }
    try {
      long count = Long.parseLong(lower.substring(0, digits));
      return switch (lower.substring(digits).trim()) {
        case "us" -> Duration.ofNanos(Math.multiplyExact(count, 1_000L));
        case "ms" -> Duration.ofMillis(count);
        case "s" -> Duration.ofSeconds(count);
        case "m", "min" -> Duration.ofMinutes(count);
        case "h" -> Duration.ofHours(count);
        default -> throw new IllegalArgumentException("not a duration: " + text);
      };
    } catch (NumberFormatException | ArithmeticException e) {
      throw new IllegalArgumentException("not a duration: " + text, e);
    }
  }

  /** In the largest unit that divides it: {@code 5 s}. */
  static String format(Duration duration) {
    long micros = duration.toNanos() / 1_000;
    if (micros == 0 || micros % 1_000 != 0) {
      return micros + " us";
    }
    long millis = micros / 1_000;
    if (millis % 1_000 != 0) {
      return millis + " ms";
    }
    long seconds = millis / 1_000;
    return seconds % 60 != 0 ? seconds + " s" : seconds / 60 + " min";
  }
}
