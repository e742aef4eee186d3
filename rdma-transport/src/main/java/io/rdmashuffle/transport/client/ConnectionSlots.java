package io.rdmashuffle.transport.client;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds the connections of a reader, those being made included. Taken before a peer is even asked,
 * so that a peer for which there is no room costs nothing. Progress thread only.
 */
final class ConnectionSlots {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionSlots.class);

  private final int limit;
  private int taken;
  private boolean fullLogged;

  ConnectionSlots(int limit) {
    this.limit = limit;
  }

  boolean tryTake() {
    if (taken < limit) {
      taken++;
      return true;
    }
    if (!fullLogged) {
      fullLogged = true;
      LOG.warn(
          "All {} connections are in use: further peers are served by the engine's own shuffle for"
              + " a while. Raise the connection limit if there are more peers than that.",
          limit);
    }
    return false;
  }

  void giveBack() {
    taken--;
  }
}
