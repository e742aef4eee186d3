package io.rdmashuffle.transport.channel;

import java.time.Duration;

/**
 * How connections behave.
 *
 * @param requestsInFlight LOCATEs and releases one connection may have unanswered; each costs two
 *     frames of registered memory on both sides
 * @param readsInFlight READs one connection may have posted; also bounded by the adapter
 * @param maxConnections queue pairs of this process, both directions
 * @param connectTimeout from dialling to the Welcome
 * @param requestTimeout from a request to its reply
 * @param keepAlive how often a silent reader shows that it lives; three missed ends its session
 * @param idleTimeout after which an unused connection is closed
 * @param spin how long the progress thread polls at most before it sleeps; see {@link Spin}
 */
public record ChannelSettings(
    int requestsInFlight,
    int readsInFlight,
    int maxConnections,
    Duration connectTimeout,
    Duration requestTimeout,
    Duration keepAlive,
    Duration idleTimeout,
    Duration spin) {
  private static final int MOST_REQUESTS = 1024;
  private static final int MOST_READS = 16_384;
  private static final int MOST_CONNECTIONS = 65_536;
  private static final Duration LONGEST = Duration.ofDays(1);

  /**
   * @throws IllegalArgumentException if a value is out of its range
   */
  public ChannelSettings {
    requireRange("requestsInFlight", requestsInFlight, 1, MOST_REQUESTS);
    requireRange("readsInFlight", readsInFlight, 1, MOST_READS);
    requireRange("maxConnections", maxConnections, 1, MOST_CONNECTIONS);
    requireRange("connectTimeout", connectTimeout, Duration.ofMillis(1));
    requireRange("requestTimeout", requestTimeout, Duration.ofMillis(1));
    requireRange("keepAlive", keepAlive, Duration.ofMillis(1));
    requireRange("idleTimeout", idleTimeout, Duration.ofMillis(1));
    requireRange("spin", spin, Duration.ZERO);
  }

  private static void requireRange(String name, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          name + "=" + value + " is outside " + least + " to " + most);
    }
  }

  private static void requireRange(String name, Duration value, Duration least) {
    if (value.compareTo(least) < 0 || value.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          name + "=" + value + " is outside " + least + " to " + LONGEST);
    }
  }

  /** Registered memory that the messages of one connection take on either side, at most. */
  public long messageBytes() {
    return ConnectionShape.mostFrameBytes(this);
  }

  /** The same with another time to connect. */
  public ChannelSettings withConnectTimeout(Duration timeout) {
    return new ChannelSettings(
        requestsInFlight,
        readsInFlight,
        maxConnections,
        timeout,
        requestTimeout,
        keepAlive,
        idleTimeout,
        spin);
  }

  public static ChannelSettings defaults() {
    return new ChannelSettings(
        16,
        128,
        512,
        Duration.ofSeconds(5),
        Duration.ofSeconds(10),
        Duration.ofSeconds(5),
        Duration.ofMinutes(5),
        Duration.ofNanos(20_000));
  }
}
