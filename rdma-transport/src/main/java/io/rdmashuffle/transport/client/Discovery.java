package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Finds out how a peer is reached by RDMA: implemented by the engine's side, over the engine's own
 * (where configured authenticated) channel.
 */
public interface Discovery {
  /**
   * Called on the progress thread; must not block. The caller gives up after its own deadline, and
   * cancels the future then: a question still queued need not be asked.
   *
   * @return completes with an invitation, with {@link Invitation.NotYet} or with {@link
   *     Invitation.None}; exceptionally if the peer could not be asked
   */
  CompletableFuture<Invitation> discover(Peer peer);

  /** A peer's answer. */
  sealed interface Invitation {
    /**
     * @param addresses where the peer listens, best first
     * @param credentialId of the ticket
     * @param secret of the ticket
     */
    record Ticket(List<InetSocketAddress> addresses, long credentialId, byte[] secret)
        implements Invitation {}

    /** The peer may have RDMA soon: it is still starting, or not known yet where it is. */
    record NotYet(String text) implements Invitation {}

    /** The peer has no RDMA. */
    record None(FallbackReason reason, String text) implements Invitation {}
  }
}
