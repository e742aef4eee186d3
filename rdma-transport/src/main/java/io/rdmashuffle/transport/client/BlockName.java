package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.wire.BlockKey;

/**
 * Says in messages which block is meant. Costs nothing until printed.
 *
 * @param peer whose it is
 * @param key by which it was asked for
 */
record BlockName(Peer peer, BlockKey key) {
  @Override
  public String toString() {
    return key.group()
        + "/"
        + key.output()
        + "/"
        + key.firstPartition()
        + "-"
        + key.endPartition()
        + " of "
        + peer;
  }
}
