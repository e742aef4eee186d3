package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The reader's end of a connection, from the moment it stands. It authenticates itself and the
 * owner first; then it belongs to the listener.
 *
 * <p>A request posts the receive for its reply before it is sent, so the owner never finds none.
 * One request more than callers may have is kept for keep-alives.
 */
final class ReaderConnection extends LiveConnections.Connection
    implements ReaderChannel, CompletionSink {
  private static final long NUDGE_NS = TimeUnit.SECONDS.toNanos(1);

  private enum State {
    AUTHENTICATING,
    OPEN,
    CLOSING,
    ENDED
  }

  private final ChannelContext context;
  private final Dial dial;
  private final Endpoint endpoint;
  private final RequestTable requests;
  private final FreeList freeReceives;
  private final ReadTable reads;
  private final DeadlineWatch deadlines;
  private final MutualChallenge challenge;
  private final KeepAlive keepAlive;
  private State state = State.AUTHENTICATING;
  private boolean opened; // the listener has it, and must be told of its end
  private TransportException closeCause;

  /**
   * What a connection keeps of the attempt that made it.
   *
   * @param peerName for messages
   * @param deadlineNs until when it must be open
   * @param listener whom to tell
   * @param permit returned when all is over
   */
  record Dial(
      String peerName, long deadlineNs, Listener listener, ConnectionLimits.Permit permit) {}

  /**
   * @param ownerRequests how many requests the owner takes at a time
   */
  ReaderConnection(
      ChannelContext context, Dial dial, Link link, int ownerRequests, MutualChallenge challenge) {
    this.context = context;
    this.dial = dial;
    this.challenge = challenge;
    ConnectionShape shape = link.shape();
    int slots = Math.min(shape.requests(), ownerRequests);
    requests = new RequestTable(slots);
    freeReceives = new FreeList(shape.requests(), slots);
    reads = new ReadTable(shape.reads());
    deadlines = new DeadlineWatch(context.loop(), this::remainingNs, this::deadlinePassed);
    keepAlive = new KeepAlive(context, this);
    endpoint = new Endpoint(context, link, this, this::destroyed, this::kept);
  }

  // ---- authentication

  /**
   * Starts the challenge; the listener hears of its end. Meanwhile there are keep-alives, as a
   * first message may lie unnoticed until a second one comes: siw on the owner's side answers a
   * connect before it directs the socket to the queue pair (siw_accept, siw_qp_socket_assoc).
   */
  void authenticate() {
    keepAlive.start(Math.min(NUDGE_NS, context.settings().connectTimeout().toNanos() / 4));
    ask(challenge.hello(), reply -> proveTo((Reply.Challenge) reply));
  }

  private void proveTo(Reply.Challenge reply) {
    if (!challenge.isAuthentic(reply)) {
      close(new TransportException(Kind.PEER_LOST, dial.peerName + " does not know the secret"));
      return;
    }
    ask(challenge.prove(), welcome -> open((Reply.Welcome) welcome));
  }

  private void open(Reply.Welcome welcome) {
    challenge.wipe();
    state = State.OPEN;
    opened = true;
    context.counters().increment(Counter.CONNECTIONS_OPENED);
    context.counters().increment(Counter.CONNECTIONS_LIVE);
    keepAlive.stop();
    keepAlive.start(TimeUnit.MILLISECONDS.toNanos(welcome.keepAliveMs()));
    dial.listener.onOpen(this);
  }

  private void ask(Request request, Consumer<Reply> next) {
    ReplyHandler handler =
        new ReplyHandler() {
          @Override
          public void onReply(Reply reply) {
            next.accept(reply);
          }

          @Override
          public void onFailed(TransportException cause) {
            // The listener has been told of the attempt's end.
          }
        };
    send(request, dial.deadlineNs - context.loop().nowNs(), handler);
  }

  // ---- for callers

  @Override
  public String peerName() {
    return dial.peerName;
  }

  @Override
  public int requestCredits() {
    return state == State.OPEN ? Math.max(0, requests.free() - 1) : 0;
  }

  @Override
  public void request(Request request, long timeoutNs, ReplyHandler handler) {
    if (requestCredits() == 0) {
      throw new IllegalStateException("no request credit on the connection to " + dial.peerName);
    }
    keepAlive.used();
    send(request, timeoutNs, handler);
  }

  /** With the request kept for it, unless even that is in use. The proof comes first. */
  void sendKeepAlive() {
    if (state == State.AUTHENTICATING) {
      if (requests.free() > 1) {
        ask(KeepAlive.MESSAGE, released -> {});
      }
    } else if (requests.free() > 0) {
      long timeoutNs = context.settings().requestTimeout().toNanos();
      send(KeepAlive.MESSAGE, timeoutNs, KeepAlive.NO_INTEREST);
    }
  }

  private void send(Request request, long timeoutNs, ReplyHandler handler) {
    long nowNs = context.loop().nowNs();
    int slot = requests.take(request, nowNs + timeoutNs, handler);
    int bytes;
    try {
      bytes = context.codec().encode(requests.requestId(slot), request, endpoint.buffer(slot));
    } catch (IllegalArgumentException e) {
      requests.putBack(slot);
      throw e;
    }
    keepAlive.sent(nowNs);
    deadlines.cover(nowNs + timeoutNs);
    try {
      endpoint.receive(freeReceives.take());
      endpoint.send(slot, bytes);
    } catch (VerbsException e) {
      close(e);
    }
  }

  @Override
  public int readCredits() {
    return state == State.OPEN ? reads.credits() : 0;
  }

  @Override
  public void read(ReadChain chain, long timeoutNs, ReadHandler handler) {
    if (chain.size() == 0 || chain.size() > readCredits()) {
      throw new IllegalStateException(
          chain.size() + " READs from " + dial.peerName + ", credit is " + readCredits());
    }
    long nowNs = context.loop().nowNs();
    int first = reads.take(chain.size(), nowNs, nowNs + timeoutNs, handler);
    keepAlive.used();
    deadlines.cover(nowNs + timeoutNs);
    context.counters().add(Counter.READS_POSTED, chain.size());
    try {
      endpoint.read(first, chain);
    } catch (VerbsException e) {
      close(e);
    }
  }

  @Override
  public long lastRequestNs() {
    return keepAlive.lastRequestNs();
  }

  @Override
  public long keepAliveNs() {
    return keepAlive.intervalNs();
  }

  // ---- completions

  @Override
  public void onCompletion(int op, WcStatus status, int bytes, int vendorError) {
    if (state == State.CLOSING || state == State.ENDED) {
      return; // counted as failed once the queue pair is gone
    }
    if (status != WcStatus.SUCCESS) {
      TransportException cause = endpoint.failure(op, status, vendorError, dial.peerName);
      if (cause instanceof ReadRefusedException) {
        reads.refused(op - endpoint.firstRead());
      }
      close(cause);
    } else if (endpoint.isSend(op)) {
      requests.sent(op);
    } else if (endpoint.isReceive(op)) {
      received(op, bytes);
    } else {
      readCompleted(op - endpoint.firstRead());
    }
  }

  private void received(int op, int bytes) {
    Reply reply;
    ReplyHandler handler;
    try {
      reply = context.codec().decodeReply(endpoint.buffer(op).limit(bytes));
      if (reply instanceof Reply.Refused refused) {
        close(
            new TransportException(Kind.PEER_LOST, dial.peerName + " refused: " + refused.text()));
        return;
      }
      handler = requests.answered(context.codec().requestId(), reply);
    } catch (WireException e) {
      context.counters().increment(Counter.FRAMES_REJECTED);
      close(new WireException("from " + dial.peerName + ": " + e.getMessage(), e));
      return;
    }
    freeReceives.put(op);
    handler.onReply(reply);
  }

  private void readCompleted(int read) {
    long postedNs = reads.postedNs(read);
    ReadHandler handler = reads.completed(read);
    context.counters().readLatency().record(context.loop().nowNs() - postedNs);
    keepAlive.used();
    handler.onRead();
  }

  // ---- the end

  private long remainingNs(long nowNs) {
    return Math.min(requests.remainingNs(nowNs), reads.remainingNs(nowNs));
  }

  private void deadlinePassed() {
    long nowNs = context.loop().nowNs();
    String what =
        requests.remainingNs(nowNs) <= 0 ? "no reply" : reads.posted() + " READs not complete";
    close(new TransportException(Kind.PEER_LOST, what + " in time from " + dial.peerName));
  }

  @Override
  long idleSinceNs() {
    return keepAlive.lastUsedNs();
  }

  @Override
  boolean isIdle() {
    return state == State.OPEN && requests.isEmpty() && reads.posted() == 0;
  }

  /** Takes up the end where an Error has left it, should there have been one. */
  @Override
  public void close(TransportException cause) {
    if (state == State.ENDED) {
      return;
    }
    boolean first = state != State.CLOSING;
    boolean wasOpen = state == State.OPEN;
    state = State.CLOSING;
    try {
      if (first) {
        closeCause = cause;
        beginEnd(wasOpen);
      }
    } finally {
      endpoint.destroy();
    }
  }

  private void beginEnd(boolean wasOpen) {
    challenge.wipe();
    deadlines.cancel();
    keepAlive.stop();
    context.counters().add(Counter.READS_FAILED, reads.posted());
    if (!wasOpen) {
      context.counters().increment(Counter.CONNECTIONS_FAILED);
      dial.listener.onDialFailed(closeCause); // nobody's memory is posted yet: no need to wait
    }
  }

  /** Gives up a connection that nobody has got yet. */
  void abandon(TransportException cause) {
    if (state == State.AUTHENTICATING) {
      close(cause);
    }
  }

  /** The adapter may still write to what was posted: handlers are not told. */
  private void kept() {
    if (opened) {
      dial.listener.onKept(closeCause);
    }
  }

  /** Again if it throws; who was told is not told again. */
  private void destroyed() {
    requests.failAll(closeCause);
    reads.failAll(closeCause);
    if (opened) {
      opened = false;
      context.counters().add(Counter.CONNECTIONS_LIVE, -1);
      dial.listener.onClosed(closeCause);
    }
    state = State.ENDED;
    context.live().remove(this);
    dial.permit.close();
  }
}
