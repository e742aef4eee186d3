package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ReadRefusedException;
import io.rdmashuffle.transport.channel.ReaderChannel;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is known of one peer: nothing, a connection in the making, an open one, or that it is to be
 * left alone for a while. After a failure the first fetch that finds the pause over tries again;
 * only that one waits for the outcome, and not for long. Progress thread only.
 */
final class PeerLink implements ConnectAttempt.Listener, Fetch.Home {
  private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);

  /** More than any engine has in flight; beyond that somebody's limits are broken. */
  static final int MAX_FETCHES = 1024;

  /**
   * How long a fetch waits for a probe of what failed before. Connecting takes milliseconds where
   * it works; the probe goes on without the fetch.
   */
  static final long PROBE_WAIT_NS = 100_000_000L;

  /** How soon a peer that is not ready is asked again at first, and at most. */
  private static final long READY_MINIMUM_NS = 200_000_000L;

  private static final long READY_MAXIMUM_NS = 5_000_000_000L;

  private final ClientContext context;
  private final Peer peer;
  private final PeerTable table;
  private final PeerHealth health;
  private final Backoff untilReady;
  private final Set<Fetch> waiting = new LinkedHashSet<>();
  private ConnectAttempt attempt;
  private Session session;
  private FallbackReason restReason;
  private long restUntilNs;
  private long usedNs;

  PeerLink(ClientContext context, Peer peer, PeerTable table) {
    this.context = context;
    this.peer = peer;
    this.table = table;
    this.health = new PeerHealth(context.backoff());
    this.untilReady = new Backoff(READY_MINIMUM_NS, READY_MAXIMUM_NS, context.parts().random());
  }

  Peer peer() {
    return peer;
  }

  Session session() {
    return session;
  }

  /** When a fetch last asked for this peer. */
  long usedNs() {
    return usedNs;
  }

  /** Whether nothing is lost if it is forgotten, apart from how long to leave the peer alone. */
  boolean isUnconnected() {
    return session == null && attempt == null;
  }

  boolean isResting(long nowNs) {
    return restReason != null && nowNs - restUntilNs < 0;
  }

  void submit(Fetch fetch) {
    long nowNs = context.loop().nowNs();
    usedNs = nowNs;
    if (waiting.size() + (session == null ? 0 : session.fetches()) >= MAX_FETCHES) {
      context.outcomes().fallBackRest(fetch, FallbackReason.OVERLOADED);
    } else if (session != null) {
      limitIfProbe(fetch);
      session.add(fetch);
    } else if (attempt != null) {
      joinAttempt(fetch);
    } else if (isResting(nowNs)) {
      context.outcomes().fallBackRest(fetch, restReason);
    } else {
      beginAttempt(fetch);
    }
  }

  private void joinAttempt(Fetch fetch) {
    if (health.isSilent()) { // one fetch probes a peer that failed, the others do not wait
      context.outcomes().fallBackRest(fetch, FallbackReason.BREAKER_OPEN);
    } else {
      await(fetch);
    }
  }

  private void beginAttempt(Fetch fetch) {
    ConnectAttempt begun = new ConnectAttempt(context, peer, table.gate(), this);
    if (!table.takeSlot()) {
      rest(FallbackReason.CONNECTION_CAP, table.capPauseNs());
      context.outcomes().fallBackRest(fetch, FallbackReason.CONNECTION_CAP);
      return;
    }
    attempt = begun; // and with it the slot
    restReason = null;
    limitIfProbe(fetch);
    await(fetch);
    begun.start();
  }

  /** Until the peer has answered a LOCATE again, nothing waits long for it. */
  private boolean isProbed() {
    return health.isSilent() || context.device().isProbed();
  }

  private void limitIfProbe(Fetch fetch) {
    if (isProbed()) {
      context.loop().schedule(PROBE_WAIT_NS, () -> probeTookLong(fetch));
    }
  }

  private void probeTookLong(Fetch fetch) {
    if (isProbed()) {
      context.outcomes().fallBackRest(fetch, FallbackReason.BREAKER_OPEN);
    }
  }

  private void await(Fetch fetch) {
    waiting.add(fetch);
    fetch.moveTo(this);
  }

  @Override
  public void fetchEnded(Fetch fetch) {
    waiting.remove(fetch);
  }

  @Override
  public Session opened(ReaderChannel channel) {
    Session opened = new Session(context, channel, health);
    attempt = null;
    untilReady.succeeded();
    session = opened;
    context.outstanding().begin();
    return opened;
  }

  @Override
  public void begin(Session opened) {
    List<Fetch> arrived = List.copyOf(waiting);
    waiting.clear();
    arrived.forEach(opened::add);
  }

  @Override
  public void hasNoRdma(Invitation.None answer) {
    attempt = null;
    table.giveBackSlot();
    context.device().inconclusive(peer.id(), context.loop().nowNs());
    if (restReason != answer.reason()) {
      context.log(
          peer,
          answer.reason(),
          more ->
              LOG.info(
                  "[{}] is served by the engine's own shuffle: {}{}", peer, answer.text(), more));
    }
    rest(answer.reason(), context.settings().breakerMaximum().toNanos());
    failWaiting(answer.reason());
  }

  /** Unlike the answer "none" this one changes by itself. */
  @Override
  public void isNotReady(Invitation.NotYet answer) {
    attempt = null;
    table.giveBackSlot();
    context.device().inconclusive(peer.id(), context.loop().nowNs());
    if (!untilReady.hasFailed()) {
      context.log(
          peer,
          FallbackReason.PEER_WITHOUT_RDMA,
          more ->
              LOG.info(
                  "[{}] is served by the engine's own shuffle until it is ready: {}{}",
                  peer,
                  answer.text(),
                  more));
    }
    rest(FallbackReason.PEER_WITHOUT_RDMA, untilReady.failed());
    failWaiting(FallbackReason.PEER_WITHOUT_RDMA);
  }

  @Override
  public void failed(FallbackReason reason, TransportException cause) {
    attempt = null;
    table.giveBackSlot();
    long nowNs = context.loop().nowNs();
    if (reason == FallbackReason.CONNECTION_CAP) { // no room, here or there: nobody is broken
      rest(reason, health.failed());
      LOG.debug("[{}] no connection for now", peer, cause);
      table.makeRoom();
    } else {
      broke(cause);
    }
    if (reason == FallbackReason.CONNECT_FAILED && cause.kind() == Kind.PEER_LOST) {
      context.device().peerFailed(peer.id(), nowNs);
    } else {
      context.device().inconclusive(peer.id(), nowNs);
    }
    failWaiting(reason);
  }

  @Override
  public void closed(Session ended, TransportException cause) {
    boolean wasBusy = ended.isBusy();
    boolean wasOurs = ended == session;
    if (wasOurs) {
      session = null;
    }
    table.giveBackSlot();
    boolean failedUnused = isProbed() && cause.kind() != Kind.RETRY;
    boolean wasRefused = cause instanceof ReadRefusedException;
    boolean isForgiven = false;
    List<Fetch> again = List.of();
    try {
      isForgiven = wasOurs && wasRefused && isForgiven();
      if (isForgiven) {
        again = ended.letGo();
      }
    } finally {
      end(ended);
    }
    if (isForgiven) {
      context.log(peer, FallbackReason.READ_REFUSED, more -> logRefusal(cause, more));
      again.forEach(this::submit);
    } else if (wasOurs && (wasBusy || failedUnused || wasRefused)) {
      broke(cause);
      context.device().peerFailed(peer.id(), context.loop().nowNs());
    } else {
      LOG.debug("[{}] connection closed", peer, cause);
    }
  }

  private void end(Session ended) {
    try {
      ended.closed();
    } finally {
      context.outstanding().end();
    }
  }

  /**
   * The adapter does not let go of the session's connection. What was posted to it, and its slot,
   * stay out of use; the fetches do not wait.
   */
  @Override
  public void kept(Session stuck, TransportException cause) {
    stuck.giveUp(FallbackReason.TRANSFER_FAILED);
    if (stuck == session) {
      session = null;
      broke(cause);
    }
  }

  /** A peer that refuses a READ is alive. It is left alone if it does nothing else. */
  private boolean isForgiven() {
    return health.forgivesRefusal() && context.device().admits(peer.id(), context.loop().nowNs());
  }

  private void logRefusal(TransportException cause, String more) {
    LOG.warn(
        "[{}] refused a READ, whose block the engine's own shuffle serves; the others are asked for"
            + " over a new connection: {}{}",
        peer,
        cause.getMessage(),
        more);
  }

  /** Closes the connection; the next fetch makes a new one. */
  void disconnect(TransportException cause) {
    if (session != null) {
      Session old = session;
      session = null;
      old.close(cause);
    }
  }

  /** Ends what is under way: it falls back at once. */
  void abandon(FallbackReason reason, TransportException cause) {
    if (attempt != null) {
      attempt.abandon();
      attempt = null;
      table.giveBackSlot();
    }
    failWaiting(reason);
    if (session != null) {
      session.giveUp(reason);
      disconnect(cause);
    }
  }

  private void broke(TransportException cause) {
    long restNs = health.failed();
    rest(FallbackReason.BREAKER_OPEN, restNs);
    context.log(
        peer,
        FallbackReason.BREAKER_OPEN,
        more ->
            LOG.warn(
                "[{}] is served by the engine's own shuffle for {} ms: {}{}",
                peer,
                restNs / 1_000_000,
                cause.getMessage(),
                more));
    LOG.debug("[{}] where it broke", peer, cause);
  }

  private void rest(FallbackReason reason, long restNs) {
    restReason = reason;
    restUntilNs = context.loop().nowNs() + restNs;
  }

  private void failWaiting(FallbackReason reason) {
    for (Fetch fetch : List.copyOf(waiting)) {
      context.outcomes().fallBackRest(fetch, reason);
    }
  }
}
