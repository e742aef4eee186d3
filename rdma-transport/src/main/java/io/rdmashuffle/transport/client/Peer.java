package io.rdmashuffle.transport.client;

/**
 * A process that owns blocks.
 *
 * @param id unique for the life of the process behind it: the executor id in Spark
 * @param host where the engine says it runs
 * @param port the engine's own port there; discovery goes to it
 */
public record Peer(String id, String host, int port) {
  @Override
  public String toString() {
    return id + "@" + host + ":" + port;
  }
}
