package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.Peer;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The NodeManagers a reducer has heard of. There is nobody to ask: each listens at a port that
 * follows from its HTTP port, and lets in whoever knows the job's secret.
 *
 * <p>Any thread. {@link #peer} asks the resolver; {@link #discover} looks into memory.
 */
final class JobPeers implements Discovery {
  private final long credentialId;
  private final byte[] secret;
  private final Map<String, List<InetSocketAddress>> addresses = new ConcurrentHashMap<>();

  /**
   * @param credentialId by which NodeManagers know the job
   * @param secret of the job
   */
  JobPeers(long credentialId, byte[] secret) {
    this.credentialId = credentialId;
    this.secret = secret.clone();
  }

  /**
   * @throws SegmentLostException if the node has no address that RDMA can use
   */
  Peer peer(NodeAddress node, int rdmaPort) throws SegmentLostException {
    List<InetSocketAddress> found;
    try {
      found = node.rdmaAddresses(rdmaPort);
    } catch (UnknownHostException e) {
      throw new SegmentLostException(FallbackReason.DISCOVERY_FAILED, node + ": " + e.getMessage());
    }
    if (found.isEmpty()) {
      throw new SegmentLostException(
          FallbackReason.NOT_SUPPORTED, node + " has no IPv4 address, which RDMA CM needs");
    }
    addresses.put(node.toString(), found);
    return new Peer(node.toString(), node.host(), rdmaPort);
  }

  @Override
  public CompletableFuture<Invitation> discover(Peer peer) {
    List<InetSocketAddress> known = addresses.getOrDefault(peer.id(), List.of());
    return CompletableFuture.completedFuture(
        new Invitation.Ticket(known, credentialId, secret.clone()));
  }
}
