package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.channel.ProgressLoop;
import java.util.function.Consumer;

/**
 * What the parts of one client share.
 *
 * @param parts what the client was built from
 * @param memory where READs land
 * @param outcomes where blocks are reported
 * @param device the breaker of all peers
 * @param outstanding what closing waits for
 * @param logLimit for lines that peers cause
 */
record ClientContext(
    ClientParts parts,
    LandingMemory memory,
    Outcomes outcomes,
    DeviceBreaker device,
    Outstanding outstanding,
    LogLimit logLimit) {
  /** Whose lines are limited together: peers on one host are often one trouble. */
  private record Trouble(String host, FallbackReason reason) {}

  static ClientContext of(ClientParts parts) {
    LandingMemory memory =
        new LandingMemory(parts.loop(), parts.pool(), parts.overflow(), parts.counters());
    LogLimit logLimit = new LogLimit(parts.loop()::nowNs);
    Deliveries deliveries = new Deliveries(parts.loop(), parts.threads().delivery());
    return new ClientContext(
        parts,
        memory,
        new Outcomes(deliveries, memory, parts.counters()),
        new DeviceBreaker(backoff(parts), probeNs(parts), logLimit),
        new Outstanding(),
        logLimit);
  }

  /** As {@link LogLimit#log}, by the peer's host and why its blocks do not come by RDMA. */
  void log(Peer peer, FallbackReason reason, Consumer<String> line) {
    logLimit.log(new Trouble(peer.host(), reason), line);
  }

  /** How long a probe of the device may take: to find a peer and to reach it. */
  private static long probeNs(ClientParts parts) {
    return parts
        .settings()
        .discoveryTimeout()
        .plus(parts.channelSettings().connectTimeout())
        .toNanos();
  }

  Backoff backoff() {
    return backoff(parts);
  }

  private static Backoff backoff(ClientParts parts) {
    return new Backoff(
        parts.settings().breakerMinimum().toNanos(),
        parts.settings().breakerMaximum().toNanos(),
        parts.random());
  }

  ProgressLoop loop() {
    return parts.loop();
  }

  Counters counters() {
    return parts.counters();
  }

  ClientSettings settings() {
    return parts.settings();
  }

  ClientThreads threads() {
    return parts.threads();
  }

  long memoryTimeoutNs() {
    return settings().memoryTimeout().toNanos();
  }

  long connectTimeoutNs() {
    return parts.channelSettings().connectTimeout().toNanos();
  }

  long requestTimeoutNs() {
    return parts.channelSettings().requestTimeout().toNanos();
  }

  long idleTimeoutNs() {
    return parts.channelSettings().idleTimeout().toNanos();
  }
}
