package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.VerbsException;

/**
 * An outbound connection in the making: address, route, queue pair, connect, all before the
 * deadline; then it becomes a {@link ReaderConnection}.
 *
 * <p><b>Threads:</b> driven on the CM thread, which writes the state; {@link #abandon}, its end and
 * the finished connection belong to the progress thread. Each of the two gives the other a turn,
 * which looks at what there is to do: a turn allocates nothing, and may come once too often.
 *
 * <p><b>Failure:</b> should an Error keep it from its end, {@link #close} takes that up.
 */
final class Outbound extends LiveConnections.Connection
    implements CmThread.Watcher, Dialer.Attempt, LinkWork.Owner {
  private enum State {
    NEW,
    RESOLVING_ADDRESS,
    RESOLVING_ROUTE,
    CREATING,
    CONNECTING,
    /** The progress thread has it. */
    HANDED_OVER,
    FAILED
  }

  private final Establishing establishing;
  private final Dialer.Target target;
  private final ReaderConnection.Dial dial;
  private final MutualChallenge challenge;
  private final byte[] connectRequest;
  private final LinkWork parts;
  private final Signal cmTurn;
  private final Signal loopTurn;
  private final Exchange exchange = new Exchange();
  private volatile State state = State.NEW;
  private ProgressLoop.Timer timer; // CM thread
  private ReaderConnection connection; // progress thread

  /** What the two threads tell each other. */
  private static final class Exchange {
    private volatile TransportException givenUp; // by the progress thread
    private volatile TransportException failure; // or loss; by the CM thread
    private volatile int ownerRequests;
    private boolean told; // progress thread
  }

  /** On the progress thread. */
  Outbound(
      Establishing establishing,
      Dialer.Target target,
      ReaderChannel.Listener listener,
      ConnectionLimits.Permit permit) {
    this.establishing = establishing;
    this.target = target;
    ChannelContext context = establishing.context();
    long deadlineNs = context.loop().nowNs() + establishing.connectTimeoutNs();
    dial = new ReaderConnection.Dial(target.peerName(), deadlineNs, listener, permit);
    challenge =
        new MutualChallenge(
            context.hmac(), target.credentialId(), target.secret(), context.nonce());
    connectRequest =
        ConnectRequest.create(
                context.hmac(), target.credentialId(), target.secret(), context.nonce())
            .encode();
    parts =
        new LinkWork(
            establishing,
            establishing.maker().parts().outboundDomain(),
            establishing.readerShape(),
            this);
    cmTurn = new Signal(establishing.cm(), this::onCmTurn);
    loopTurn = new Signal(context.loop(), this::onLoopTurn);
    context.live().add(this);
  }

  void begin() {
    cmTurn.raise();
  }

  // ---- on the CM thread

  private void onCmTurn() {
    if (exchange.givenUp != null) {
      fail(exchange.givenUp);
    } else if (state == State.NEW) {
      start();
    } else if (state == State.CREATING && !parts.isMaking()) {
      linkMade();
    }
  }

  private void start() {
    timer = establishing.cm().schedule(establishing.connectTimeoutNs(), this::timedOut);
    try {
      CmId id = establishing.channel().createId();
      parts.useId(id);
      establishing.cm().watch(id, this);
      state = State.RESOLVING_ADDRESS;
      id.resolveAddress(target.address(), establishing.connectTimeoutNs());
    } catch (VerbsException e) {
      fail(e);
    }
  }

  @Override
  public void onEvent(CmEvent event) {
    try {
      switch (event.type()) {
        case ADDR_RESOLVED -> resolveRoute();
        case ROUTE_RESOLVED -> createLink();
        case ESTABLISHED -> handOver(event.privateData());
        case REJECTED ->
            lost(ConnectAnswer.toException(name(), event.status(), event.privateData()));
        case ADDR_ERROR,
            ROUTE_ERROR,
            CONNECT_ERROR,
            UNREACHABLE,
            DISCONNECTED,
            ADDR_CHANGE,
            DEVICE_REMOVAL ->
            lost(
                new TransportException(
                    Kind.PEER_LOST,
                    "connection to "
                        + name()
                        + ": "
                        + event.type()
                        + ", status "
                        + event.status()));
        default -> {
          // CONNECT_RESPONSE comes only to ids without a queue pair, TIMEWAIT_EXIT after the end.
        }
      }
    } catch (VerbsException e) {
      lost(e);
    }
  }

  private void resolveRoute() throws VerbsException {
    if (state == State.RESOLVING_ADDRESS) {
      state = State.RESOLVING_ROUTE;
      parts.id().resolveRoute(establishing.connectTimeoutNs());
    }
  }

  private void createLink() {
    if (state == State.RESOLVING_ROUTE) {
      state = State.CREATING;
      parts.make();
    }
  }

  private void linkMade() {
    if (parts.link() == null) {
      fail(
          parts.failure() instanceof TransportException transport
              ? transport
              : new TransportException(Kind.BUG, "queue pair to " + name(), parts.failure()));
      return;
    }
    state = State.CONNECTING;
    try {
      parts.id().connect(connectRequest);
    } catch (VerbsException e) {
      fail(e);
    }
  }

  private void handOver(byte[] privateData) {
    if (state != State.CONNECTING) {
      return;
    }
    ConnectAnswer answer = ConnectAnswer.parse(privateData);
    if (answer == null || answer.requestsInFlight() < 2) {
      fail(new TransportException(Kind.BUG, name() + " accepted without saying its terms"));
      return;
    }
    timer.cancel();
    exchange.ownerRequests = answer.requestsInFlight();
    state = State.HANDED_OVER;
    loopTurn.raise();
  }

  private void timedOut() {
    fail(
        new TransportException(
            Kind.PEER_LOST,
            "connect to "
                + name()
                + " took longer than "
                + establishing.connectTimeoutNs() / 1_000_000
                + " ms, state "
                + state));
  }

  private void lost(TransportException cause) {
    if (state == State.HANDED_OVER) {
      exchange.failure = cause;
      loopTurn.raise();
    } else {
      fail(cause);
    }
  }

  private void fail(TransportException cause) {
    if (state == State.HANDED_OVER || state == State.FAILED) {
      return;
    }
    exchange.failure = cause;
    state = State.FAILED;
    loopTurn.raise();
    challenge.wipe();
    if (timer != null) {
      timer.cancel();
    }
    establishing.context().counters().increment(Counter.CONNECTIONS_FAILED);
  }

  private String name() {
    return target.peerName() + " at " + target.address();
  }

  // ---- on the progress thread

  private void onLoopTurn() {
    if (state == State.FAILED) {
      tellFailed();
    } else if (state == State.HANDED_OVER) {
      if (connection == null) {
        takeOver();
      }
      if (exchange.failure != null) {
        connection.close(exchange.failure);
      }
    }
  }

  private void takeOver() {
    ChannelContext context = establishing.context();
    connection =
        new ReaderConnection(context, dial, parts.link(), exchange.ownerRequests, challenge);
    context.live().remove(this);
    context.live().add(connection);
    if (exchange.givenUp != null) {
      connection.close(exchange.givenUp);
    } else {
      connection.authenticate();
    }
  }

  private void tellFailed() {
    boolean first = !exchange.told;
    exchange.told = true;
    try {
      if (first) {
        dial.listener().onDialFailed(exchange.failure);
      }
    } finally {
      parts.close();
    }
  }

  @Override
  public void onMade() {
    if (state == State.FAILED) { // meanwhile
      parts.close();
    } else {
      cmTurn.raise();
    }
  }

  /** Last of all the permit, after the listener was told. */
  @Override
  public void onGone() {
    establishing.context().live().remove(this);
    dial.permit().close();
  }

  @Override
  public void abandon() {
    close(new TransportException(Kind.RETRY, "connect to " + name() + " was given up"));
  }

  @Override
  public void close(TransportException cause) {
    if (connection != null) {
      connection.abandon(cause);
      return;
    }
    if (exchange.givenUp == null) {
      exchange.givenUp = cause;
    }
    cmTurn.raise();
    onLoopTurn();
  }

  @Override
  boolean isIdle() {
    return false;
  }

  @Override
  long idleSinceNs() {
    return establishing.context().loop().nowNs();
  }
}
