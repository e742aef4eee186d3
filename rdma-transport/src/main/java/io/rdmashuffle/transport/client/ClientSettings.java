package io.rdmashuffle.transport.client;

import java.time.Duration;

/**
 * How a reader fetches.
 *
 * @param poolBytes registered memory that blocks land in
 * @param chunkBytes unit of that memory
 * @param transitShare part of the pool, in percent, kept for blocks that are copied out at once
 *     when the rest is taken
 * @param readBytes longest single READ; larger blocks are split
 * @param windowBytes payload one connection may have in flight as READs
 * @param fetchTimeout from fetch to the last block, else the rest falls back
 * @param discoveryTimeout how long a peer may take to answer discovery
 * @param memoryTimeout how long a block may wait for memory that comes without a consumer's help
 * @param breakerMinimum how long a peer is left alone after its first failure; doubles up to
 * @param breakerMaximum this
 */
public record ClientSettings(
    long poolBytes,
    int chunkBytes,
    int transitShare,
    int readBytes,
    long windowBytes,
    Duration fetchTimeout,
    Duration discoveryTimeout,
    Duration memoryTimeout,
    Duration breakerMinimum,
    Duration breakerMaximum) {
  public static ClientSettings defaults() {
    return new ClientSettings(
        256L << 20,
        1 << 20,
        12,
        1 << 20,
        16L << 20,
        Duration.ofSeconds(30),
        Duration.ofSeconds(5),
        Duration.ofMillis(500),
        Duration.ofSeconds(1),
        Duration.ofMinutes(1));
  }
}
