package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireException;
import io.rdmashuffle.transport.wire.WireLimits;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner's end of a connection, from the making of its queue pair. Nothing is told to the reader
 * and it may READ nothing before it has proved that it knows the secret; then there is a session.
 *
 * <p>All receives are posted before the connection is accepted, and each again before its request
 * is looked at: a reader that keeps to its credits always finds one.
 *
 * <p><b>Failure:</b> a frame that breaks the protocol closes this connection and is counted; others
 * do not notice.
 */
final class OwnerConnection extends LiveConnections.Connection
    implements OwnerChannel, CompletionSink {
  private static final Logger LOG = LoggerFactory.getLogger(OwnerConnection.class);
  private static final long REFUSAL_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int KEEP_ALIVES_MISSED = 3;

  private enum State {
    EXPECTS_HELLO,
    EXPECTS_PROOF,
    ALLOWING_READS,
    OPEN,
    /** The refusal is on its way; then it closes. */
    REFUSING,
    CLOSING,
    ENDED
  }

  private final ChannelContext context;
  private final Caller caller;
  private final Endpoint endpoint;
  private final ReplyQueue replies;
  private final MutualChallenge challenge;
  private State state = State.EXPECTS_HELLO;
  private TransportException closeCause; // while REFUSING: with which it will close
  private boolean counted; // as live
  private Session session;
  private ProgressLoop.Timer timer;
  private long lastHeardNs;
  private long lastUsedNs;

  /**
   * Who connects.
   *
   * @param peer the reader's address
   * @param credentialId under which it connects
   * @param domain where its queue pair belongs
   * @param acceptor makes the session
   * @param permit returned when all is over
   */
  record Caller(
      InetSocketAddress peer,
      long credentialId,
      ProtectionDomain domain,
      Acceptor acceptor,
      ConnectionLimits.Permit permit) {
    /** For messages. */
    String name() {
      return peer.toString();
    }
  }

  OwnerConnection(ChannelContext context, Caller caller, Link link, MutualChallenge challenge) {
    this.context = context;
    this.caller = caller;
    this.challenge = challenge;
    lastHeardNs = context.loop().nowNs();
    lastUsedNs = lastHeardNs;
    endpoint = new Endpoint(context, link, this, this::destroyed, () -> {}); // leases stay
    replies = new ReplyQueue(endpoint, context.codec());
  }

  // ---- establishment

  /** Posts all receives, then accepts. The reader must have proved itself in time. */
  void accept(long timeoutNs) {
    timer = context.loop().schedule(timeoutNs, this::authenticationTimedOut);
    try {
      for (int i = 0; i < endpoint.requests(); i++) {
        endpoint.receive(endpoint.firstReceive() + i);
      }
    } catch (VerbsException e) {
      close(e);
      return;
    }
    byte[] answer = ConnectAnswer.accepting(endpoint.requests()).encode();
    endpoint.callSlowly(() -> endpoint.link().id().accept(answer), this::closeIfFailed);
  }

  private void closeIfFailed(VerbsException failure) {
    if (failure != null) {
      close(failure);
    }
  }

  private void authenticationTimedOut() {
    close(new TransportException(Kind.PEER_LOST, caller.name() + " did not prove itself in time"));
  }

  private void onHello(int requestId, Request.Hello hello) {
    if (hello.version() != WireLimits.VERSION) {
      refuse(
          requestId,
          "protocol version " + hello.version() + ", this side speaks " + WireLimits.VERSION);
      return;
    }
    state = State.EXPECTS_PROOF;
    reply(requestId, challenge.challenge(hello));
  }

  private void onProof(int requestId, Request.Prove proof) {
    if (!challenge.isAuthentic(proof)) {
      refuse(requestId, "the proof is wrong");
      return;
    }
    challenge.wipe();
    state = State.ALLOWING_READS;
    endpoint.callSlowly(
        () -> endpoint.link().qp().allowRemoteReads(true),
        failure -> readsAllowed(requestId, failure));
  }

  private void readsAllowed(int requestId, VerbsException failure) {
    closeIfFailed(failure);
    if (state != State.ALLOWING_READS) {
      return;
    }
    timer.cancel();
    state = State.OPEN;
    counted = true;
    context.counters().increment(Counter.CONNECTIONS_OPENED);
    context.counters().increment(Counter.CONNECTIONS_LIVE);
    long keepAliveMs = context.settings().keepAlive().toMillis();
    timer = context.loop().schedule(silenceLimitNs(), this::checkSilence);
    try {
      session = caller.acceptor.onOpen(this);
    } catch (RuntimeException bug) {
      close(new TransportException(Kind.BUG, "no session for " + caller.name(), bug));
      return;
    }
    reply(requestId, new Reply.Welcome((int) keepAliveMs));
  }

  /** Says why before it closes. */
  @Override
  public void refuse(int requestId, String text) {
    if (hasEnded() || state == State.REFUSING) {
      return;
    }
    state = State.REFUSING;
    closeCause = new TransportException(Kind.PEER_LOST, caller.name() + " was refused: " + text);
    context.counters().increment(Counter.CONNECTIONS_REFUSED);
    timer.cancel();
    timer = context.loop().schedule(REFUSAL_NS, () -> close(closeCause));
    send(requestId, new Reply.Refused(text));
  }

  // ---- completions

  @Override
  public void onCompletion(int op, WcStatus status, int bytes, int vendorError) {
    if (hasEnded()) {
      return;
    }
    if (status == WcStatus.LOC_LEN_ERR) { // only receives: longer than a frame
      context.counters().increment(Counter.FRAMES_REJECTED);
    }
    if (status != WcStatus.SUCCESS) {
      close(endpoint.failure(op, status, vendorError, caller.name()));
    } else if (endpoint.isReceive(op)) {
      received(op, bytes);
    } else {
      sent(op);
    }
  }

  private void sent(int frame) {
    try {
      replies.sent(frame);
    } catch (VerbsException | IllegalArgumentException e) {
      close(failedReply(e));
      return;
    }
    if (state == State.REFUSING && replies.isIdle()) {
      close(closeCause);
    }
  }

  private void received(int op, int bytes) {
    try {
      Request request = context.codec().decodeRequest(endpoint.buffer(op).limit(bytes));
      int requestId = context.codec().requestId();
      endpoint.receive(op);
      if (!replies.expect(requestId)) {
        throw new WireException("request beyond its credits, or twice under one id");
      }
      lastHeardNs = context.loop().nowNs();
      dispatch(requestId, request);
    } catch (WireException e) {
      context.counters().increment(Counter.FRAMES_REJECTED);
      close(new WireException("from " + caller.name() + ": " + e.getMessage(), e));
    } catch (VerbsException e) {
      close(e);
    }
  }

  private void dispatch(int requestId, Request request) throws WireException {
    if (state == State.REFUSING) {
      return;
    }
    if (state == State.EXPECTS_HELLO && request instanceof Request.Hello hello) {
      onHello(requestId, hello);
    } else if (state == State.EXPECTS_PROOF && request instanceof Request.Prove proof) {
      onProof(requestId, proof);
    } else if (state == State.OPEN && isForSession(request)) {
      serve(requestId, request);
    } else if (state != State.EXPECTS_HELLO && isKeepAlive(request)) {
      reply(requestId, new Reply.Released());
    } else {
      throw new WireException(request.getClass().getSimpleName() + " in state " + state);
    }
  }

  private static boolean isForSession(Request request) {
    return request instanceof Request.Locate || request instanceof Request.Release;
  }

  private static boolean isKeepAlive(Request request) {
    return request instanceof Request.Release release && release.leases().length == 0;
  }

  private void serve(int requestId, Request request) {
    if (!isKeepAlive(request)) {
      lastUsedNs = lastHeardNs;
    }
    try {
      session.onRequest(requestId, request);
    } catch (RuntimeException bug) {
      context
          .logLimit()
          .log(
              "a bug met by " + peerHost(), // not among what else it is told of
              more ->
                  LOG.error(
                      "the session of {} threw; its connection ends{}", caller.name(), more, bug));
      close(new TransportException(Kind.BUG, "the session of " + caller.name() + " threw", bug));
    }
  }

  private void checkSilence() {
    long leftNs = silenceLimitNs() - (context.loop().nowNs() - lastHeardNs);
    if (leftNs <= 0) {
      context.counters().increment(Counter.SESSIONS_EXPIRED);
      close(
          new TransportException(
              Kind.PEER_LOST,
              "heard nothing from "
                  + caller.name()
                  + " for "
                  + silenceLimitNs() / 1_000_000
                  + " ms"));
    } else {
      timer = context.loop().schedule(leftNs, this::checkSilence);
    }
  }

  private long silenceLimitNs() {
    return KEEP_ALIVES_MISSED * context.settings().keepAlive().toNanos();
  }

  // ---- for the session

  @Override
  public String peerName() {
    return caller.name();
  }

  @Override
  public String peerHost() {
    return caller.peer.getHostString();
  }

  @Override
  public int requests() {
    return endpoint.requests();
  }

  @Override
  public long credentialId() {
    return caller.credentialId;
  }

  @Override
  public ProtectionDomain domain() {
    return caller.domain;
  }

  @Override
  public void reply(int requestId, Reply reply) {
    if (!hasEnded() && state != State.REFUSING) {
      send(requestId, reply);
    }
  }

  private void send(int requestId, Reply reply) {
    try {
      replies.reply(requestId, reply);
    } catch (VerbsException | IllegalArgumentException e) {
      close(failedReply(e));
    }
  }

  private TransportException failedReply(Exception e) {
    return e instanceof VerbsException verbs
        ? verbs
        : new TransportException(Kind.BUG, "reply to " + caller.name() + " does not fit", e);
  }

  // ---- the end

  @Override
  long idleSinceNs() {
    return lastUsedNs;
  }

  @Override
  boolean isOf(Object sharer) {
    return caller.permit.isOf(sharer);
  }

  @Override
  boolean isIdle() {
    return state == State.OPEN && replies.isIdle();
  }

  private boolean hasEnded() {
    return state == State.CLOSING || state == State.ENDED;
  }

  /** Takes up the end where an Error has left it, should there have been one. */
  @Override
  public void close(TransportException cause) {
    if (state == State.ENDED) {
      return;
    }
    boolean first = state != State.CLOSING;
    state = State.CLOSING;
    try {
      if (first) {
        closeCause = cause;
        beginEnd();
      }
    } finally {
      endpoint.destroy();
    }
  }

  private void beginEnd() {
    challenge.wipe();
    if (timer != null) {
      timer.cancel();
    }
    if (!counted) {
      context.counters().increment(Counter.CONNECTIONS_FAILED);
      context
          .logLimit()
          .log(
              peerHost(),
              more ->
                  LOG.info(
                      "connection from {} ended before it was open: {}{}",
                      caller.name(),
                      closeCause.getMessage(),
                      more));
    }
  }

  /** Again if it throws: the session takes up its end, too. */
  private void destroyed() {
    if (counted) {
      counted = false;
      context.counters().add(Counter.CONNECTIONS_LIVE, -1);
    }
    if (session != null) {
      session.onClosed(closeCause);
    }
    state = State.ENDED;
    context.live().remove(this);
    caller.permit.close();
  }
}
