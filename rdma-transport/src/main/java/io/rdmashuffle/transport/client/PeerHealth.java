package io.rdmashuffle.transport.client;

/**
 * What is known of how well a peer works, and how long it is left alone after a failure. The pauses
 * double until a block has come by READ: an answer alone shows only that the peer lives. Progress
 * thread only.
 */
final class PeerHealth {
  private final Backoff backoff;
  private boolean silent; // since it failed
  private boolean refused; // a READ, and none has brought a block since

  PeerHealth(Backoff backoff) {
    this.backoff = backoff;
  }

  /** Counts a failure; returns the time to leave it alone. */
  long failed() {
    silent = true;
    return backoff.failed();
  }

  /** Whether it has failed, and not answered a LOCATE since. */
  boolean isSilent() {
    return silent;
  }

  /**
   * It answered a LOCATE.
   *
   * @param granted blocks that are to be read now; without any this is all that it could do
   */
  void answered(int granted) {
    silent = false;
    if (granted == 0 && !refused) {
      backoff.succeeded();
    }
  }

  /** A block has come by READ. */
  void blockRead() {
    silent = false;
    refused = false;
    backoff.succeeded();
  }

  /**
   * A READ was refused.
   *
   * @return whether a block has come by READ since the last time, or this is the first: the peer is
   *     worth another connection at once
   */
  boolean forgivesRefusal() {
    boolean first = !refused;
    refused = true;
    return first;
  }
}
