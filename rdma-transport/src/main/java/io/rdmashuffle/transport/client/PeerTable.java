package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ProgressLoop.Timer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All peers a reader knows, and what bounds them together: the number of connections, of dials and
 * of peers remembered. A slow timer forgets peers and gives back chunks that are not used any more;
 * it runs only while there is something to look after. Progress thread only.
 */
final class PeerTable {
  /** Peers remembered at a time; a longer-lived one forgets those not used for longest. */
  static final int MAX_PEERS = 4096;

  /** A connection is not closed for another peer before it is that old, ... */
  static final long YOUNG_NS = 10_000_000_000L;

  /** ... and was not used for so long. */
  static final long UNUSED_NS = 2_000_000_000L;

  /** Looking for such a connection in vain is not repeated sooner. */
  private static final long LOOK_AGAIN_NS = 100_000_000L;

  private static final long TICK_NS = 1_000_000_000L;

  private final ClientContext context;
  private final Map<String, PeerLink> links = new HashMap<>();
  private final ConnectionSlots slots;
  private final DialGate gate = new DialGate();
  private Timer tick;
  private long nextRoomNs;

  PeerTable(ClientContext context) {
    this.context = context;
    this.slots = new ConnectionSlots(context.parts().channelSettings().maxConnections());
    this.nextRoomNs = context.loop().nowNs();
  }

  /**
   * Finds or makes the link of a peer.
   *
   * @return null if too many peers are in use
   */
  PeerLink link(Peer peer) {
    PeerLink link = links.get(peer.id());
    if (link != null && link.peer().equals(peer)) {
      return link;
    }
    if (link != null) { // the id names another process now
      forget(peer.id());
    }
    if (links.size() >= MAX_PEERS && !dropOldest()) {
      return null;
    }
    link = new PeerLink(context, peer, this);
    links.put(peer.id(), link);
    tickLater();
    return link;
  }

  void forget(String peerId) {
    PeerLink link = links.remove(peerId);
    if (link != null) {
      link.abandon(
          FallbackReason.TRANSFER_FAILED,
          new TransportException(Kind.PEER_LOST, link.peer() + " is gone for good"));
    }
  }

  /** Ends all links: what they wait for or read falls back. */
  void close(TransportException cause) {
    List<PeerLink> all = List.copyOf(links.values());
    all.forEach(link -> link.abandon(FallbackReason.STOPPING, cause));
    links.clear();
    if (tick != null) {
      tick.cancel();
      tick = null;
    }
  }

  /** Ends what is under way with every peer. */
  void breakOff(TransportException cause) {
    links.values().forEach(link -> link.abandon(FallbackReason.TRANSFER_FAILED, cause));
  }

  DialGate gate() {
    return gate;
  }

  /** Room for one more connection. If there is none, one is made for those who come later. */
  boolean takeSlot() {
    if (slots.tryTake()) {
      return true;
    }
    makeRoom();
    return false;
  }

  void giveBackSlot() {
    slots.giveBack();
  }

  /** How long a peer is left alone for which there was no room. */
  long capPauseNs() {
    long pauseNs = context.settings().breakerMinimum().toNanos();
    return pauseNs + context.parts().random().nextLong(pauseNs / 4 + 1);
  }

  /** Closes the connection not used for longest, if it is old and idle. */
  void makeRoom() {
    long nowNs = context.loop().nowNs();
    if (nowNs - nextRoomNs < 0) {
      return;
    }
    PeerLink oldest = null;
    for (PeerLink link : links.values()) {
      if (isSpare(link.session(), nowNs)
          && (oldest == null || link.session().usedNs() - oldest.session().usedNs() < 0)) {
        oldest = link;
      }
    }
    if (oldest != null) {
      oldest.disconnect(new TransportException(Kind.RETRY, "idle, and others wait for room"));
    } else {
      nextRoomNs = nowNs + LOOK_AGAIN_NS;
    }
  }

  private static boolean isSpare(Session session, long nowNs) {
    return session != null
        && !session.isBusy()
        && nowNs - session.openedNs() >= YOUNG_NS
        && nowNs - session.usedNs() >= UNUSED_NS;
  }

  private void tickLater() {
    if (tick == null) {
      tick = context.loop().schedule(TICK_NS, this::tick);
    }
  }

  private void tick() {
    tick = null;
    forgetUnused();
    context.memory().reclaimLost();
    context.memory().trim();
    if (!links.isEmpty() || context.memory().chunksOut() > 0) {
      tickLater();
    } else {
      context.memory().shrink();
    }
  }

  private void forgetUnused() {
    long nowNs = context.loop().nowNs();
    long unusedNs = context.idleTimeoutNs();
    links
        .values()
        .removeIf(
            link ->
                link.isUnconnected()
                    && !link.isResting(nowNs)
                    && nowNs - link.usedNs() >= unusedNs);
  }

  private boolean dropOldest() {
    PeerLink oldest = null;
    for (PeerLink link : links.values()) {
      if (link.isUnconnected() && (oldest == null || link.usedNs() - oldest.usedNs() < 0)) {
        oldest = link;
      }
    }
    if (oldest != null) {
      links.remove(oldest.peer().id());
    }
    return oldest != null;
  }
}
