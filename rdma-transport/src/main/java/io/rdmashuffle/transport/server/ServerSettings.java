package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.wire.WireLimits;
import java.time.Duration;

/**
 * How an owner serves blocks.
 *
 * @param inlineBytes blocks up to that size travel in the reply itself; at most {@link
 *     WireLimits#INLINE_BYTES}
 * @param windowBytes largest part of a file registered at a time, at most 1 GiB; rounded down to
 *     whole pages
 * @param stageBelowBytes a block smaller than that, whose window is not registered, is copied into
 *     staging memory rather than registered, unless its neighbours are asked for too; up to 16
 *     times as long ones, too, while windows are evicted before they have paid
 * @param stagingBytes registered memory for such copies, in each protection domain
 * @param locateTimeout after which a LOCATE is answered with what is ready; shorter than the
 *     reader's time-out for requests
 * @param revokeAfter how long a lease on a file that goes away may last
 */
public record ServerSettings(
    int inlineBytes,
    long windowBytes,
    int stageBelowBytes,
    long stagingBytes,
    Duration locateTimeout,
    Duration revokeAfter) {
  /** Keys that an owner looks up at a time, of all its readers. */
  public static final int MOST_KEYS = 1 << 17;

  private static final long LONGEST_WINDOW_BYTES = 1L << 30;

  /**
   * @throws IllegalArgumentException if a number is out of its range
   */
  public ServerSettings {
    require(inlineBytes >= 0 && inlineBytes <= WireLimits.INLINE_BYTES, "inlineBytes", inlineBytes);
    require(windowBytes > 0 && windowBytes <= LONGEST_WINDOW_BYTES, "windowBytes", windowBytes);
    require(stageBelowBytes >= 0, "stageBelowBytes", stageBelowBytes);
    require(stagingBytes > 0, "stagingBytes", stagingBytes);
    require(locateTimeout.compareTo(Duration.ZERO) > 0, "locateTimeout", locateTimeout);
    require(!revokeAfter.isNegative(), "revokeAfter", revokeAfter);
  }

  private static void require(boolean fits, String what, Object value) {
    if (!fits) {
      throw new IllegalArgumentException(what + " of " + value + " is out of range");
    }
  }

  public static ServerSettings defaults() {
    return new ServerSettings(
        512, 64L << 20, 64 << 10, 32L << 20, Duration.ofSeconds(3), Duration.ofSeconds(5));
  }
}
