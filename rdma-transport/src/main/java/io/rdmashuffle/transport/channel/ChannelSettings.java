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
 * @param spin how long the progress thread polls before it sleeps
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
