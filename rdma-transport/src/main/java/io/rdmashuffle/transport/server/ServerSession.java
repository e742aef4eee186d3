package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.OwnerChannel;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireLimits;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves one reader: its requests in progress, its leases, its turn in the slow pool. A reader that
 * holds more than {@link WireLimits#mostLeases} loses its connection, so that what it can make this
 * process hold is bounded.
 */
final class ServerSession implements OwnerChannel.Session {
  private static final Logger LOG = LoggerFactory.getLogger(ServerSession.class);
  private static final int MOST_WAITING_JOBS = 1024;

  private final ServerParts parts;
  private final DomainState domain;
  private final OwnerChannel channel;
  private final SlowLanes.Lane lane;
  private final LeaseTable leases;
  private final Set<LocateCall> calls = new LinkedHashSet<>();
  private int keysHeld; // by the calls

  ServerSession(
      ServerParts parts, DomainState domain, OwnerChannel channel, LongSupplier leaseIds) {
    this.parts = parts;
    this.domain = domain;
    this.channel = channel;
    this.lane = parts.lanes().newLane(MOST_WAITING_JOBS);
    this.leases = new LeaseTable(domain, parts.counters(), leaseIds);
  }

  DomainState domain() {
    return domain;
  }

  SlowLanes.Lane lane() {
    return lane;
  }

  long scope() {
    return channel.credentialId();
  }

  /** Where the reader is; one for all processes of a host. */
  String host() {
    return channel.peerHost();
  }

  LeaseTable leases() {
    return leases;
  }

  @Override
  public void onRequest(int requestId, Request request) {
    if (request instanceof Request.Locate locate) {
      leases.end(locate.releases());
      if (leases.size() + calls.size() >= WireLimits.mostLeases(channel.requests())) {
        cutOff(requestId);
        return;
      }
      LocateCall call = new LocateCall(parts, this, requestId, admitted(locate.keys()));
      calls.add(call);
      call.start();
    } else if (request instanceof Request.Release release) {
      leases.end(release.leases());
      channel.reply(requestId, new Reply.Released());
    } else {
      throw new IllegalArgumentException("request of kind " + request.getClass().getName());
    }
  }

  /** The first of the keys, for which there is room. */
  private List<BlockKey> admitted(List<BlockKey> keys) {
    int count = domain.keyRoom().take(keys.size());
    keysHeld += count;
    return count == keys.size() ? keys : List.copyOf(keys.subList(0, count));
  }

  private void giveBackRoom(int keys) {
    keysHeld -= keys;
    domain.keyRoom().giveBack(keys);
  }

  private void cutOff(int requestId) {
    String why =
        "it asks for more while it holds "
            + leases.size()
            + " leases, the most being "
            + WireLimits.mostLeases(channel.requests());
    parts
        .reports()
        .limited(host(), more -> LOG.warn("Closing the connection of {}: {}{}", this, why, more));
    parts.counters().add(Counter.LEASES_REVOKED, leases.size());
    channel.refuse(requestId, why);
  }

  /** A call answers, as its last act. */
  void answer(LocateCall call, int requestId, Reply.Located reply) {
    calls.remove(call);
    giveBackRoom(call.keys());
    channel.reply(requestId, reply);
  }

  /** Takes the reader's rights away by closing its connection; {@link #onClosed} follows. */
  void revoke(TransportException cause) {
    parts.counters().add(Counter.LEASES_REVOKED, leases.size());
    channel.close(cause);
  }

  @Override
  public void onClosed(TransportException cause) {
    giveBackRoom(keysHeld);
    List.copyOf(calls).forEach(LocateCall::abandon);
    calls.clear();
    leases.endAll();
    domain.remove(this);
  }

  @Override
  public String toString() {
    return channel.peerName();
  }
}
