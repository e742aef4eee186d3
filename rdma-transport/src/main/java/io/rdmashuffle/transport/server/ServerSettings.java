package io.rdmashuffle.transport.server;

import java.time.Duration;

/**
 * How an owner serves blocks.
 *
 * @param inlineBytes blocks up to that size travel in the reply itself
 * @param windowBytes largest part of a file registered at a time
 * @param stageBelowBytes a block smaller than that, whose window is not registered, is copied into
 *     staging memory rather than registered, unless its neighbours are asked for too
 * @param stagingBytes registered memory for such copies
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
  public static ServerSettings defaults() {
    return new ServerSettings(
        512, 64L << 20, 64 << 10, 32L << 20, Duration.ofSeconds(3), Duration.ofSeconds(5));
  }
}
