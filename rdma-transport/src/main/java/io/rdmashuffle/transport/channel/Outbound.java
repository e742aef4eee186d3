package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.VerbsException;

/**
 * An outbound connection in the making: address, route, queue pair, connect, all before the
 * deadline; then it becomes a {@link ReaderConnection}.
 *
 * <p><b>Threads:</b> driven on the CM thread, which owns the state; {@link #abandon} and the
 * finished connection belong to the progress thread.
 */
final class Outbound extends LiveConnections.Connection
    implements CmThread.Watcher, Dialer.Attempt {
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
  private State state = State.NEW;
  private CmId id;
  private Link link;
  private ProgressLoop.Timer timer;
  private ReaderConnection connection; // progress thread
  private TransportException abandoned; // progress thread

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
    context.live().add(this);
  }

  // ---- on the CM thread

  void start() {
    if (state != State.NEW) {
      return;
    }
    timer = establishing.cm().schedule(establishing.connectTimeoutNs(), this::timedOut);
    try {
      id = establishing.channel().createId();
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
      id.resolveRoute(establishing.connectTimeoutNs());
    }
  }

  private void createLink() {
    if (state == State.RESOLVING_ROUTE) {
      state = State.CREATING;
      establishing.context().slowPool().execute(Work.of(this::makeLink));
    }
  }

  /** On the slow pool. */
  private void makeLink() {
    CmThread cm = establishing.cm();
    try {
      Link made =
          establishing
              .maker()
              .make(id, establishing.maker().parts().outboundDomain(), establishing.readerShape());
      cm.execute(Work.of(() -> linkMade(made)));
    } catch (TransportException | RuntimeException e) {
      cm.execute(Work.of(() -> linkFailed(e)));
    }
  }

  private void linkMade(Link made) {
    link = made;
    if (state == State.FAILED) { // meanwhile
      cleanUp();
      return;
    }
    state = State.CONNECTING;
    try {
      id.connect(connectRequest);
    } catch (VerbsException e) {
      fail(e);
    }
  }

  private void linkFailed(Exception failure) {
    if (state == State.FAILED) {
      cleanUp();
      return;
    }
    state = State.CONNECTING; // nothing runs elsewhere any more
    fail(
        failure instanceof TransportException transport
            ? transport
            : new TransportException(Kind.BUG, "queue pair to " + name(), failure));
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
    state = State.HANDED_OVER;
    establishing.context().loop().execute(() -> takeOver(answer.requestsInFlight()));
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
      establishing.context().loop().execute(() -> connection.close(cause));
    } else {
      fail(cause);
    }
  }

  private void fail(TransportException cause) {
    if (state == State.HANDED_OVER || state == State.FAILED) {
      return;
    }
    boolean creating = state == State.CREATING;
    state = State.FAILED;
    challenge.wipe();
    if (timer != null) {
      timer.cancel();
    }
    ChannelContext context = establishing.context();
    context.counters().increment(Counter.CONNECTIONS_FAILED);
    context.loop().execute(() -> tellFailed(cause));
    if (!creating) {
      cleanUp();
    }
  }

  private void cleanUp() {
    establishing.context().slowPool().execute(Work.of(this::closeParts));
  }

  /** On the slow pool; last of all the permit, behind what the listener is told. */
  private void closeParts() {
    if (link != null) {
      link.close();
    } else if (id != null) {
      id.close();
    }
    establishing.cm().execute(Work.of(() -> establishing.cm().forget(id)));
    establishing.context().loop().execute(dial.permit()::close);
  }

  private String name() {
    return target.peerName() + " at " + target.address();
  }

  // ---- on the progress thread

  private void takeOver(int ownerRequests) {
    LiveConnections live = establishing.context().live();
    connection = new ReaderConnection(establishing.context(), dial, link, ownerRequests, challenge);
    live.remove(this);
    live.add(connection);
    if (abandoned != null) {
      connection.close(abandoned);
    } else {
      connection.authenticate();
    }
  }

  private void tellFailed(TransportException cause) {
    establishing.context().live().remove(this);
    dial.listener().onDialFailed(cause);
  }

  @Override
  public void abandon() {
    close(new TransportException(Kind.RETRY, "connect to " + name() + " was given up"));
  }

  @Override
  public void close(TransportException cause) {
    if (connection != null) {
      connection.abandon(cause);
    } else if (abandoned == null) {
      abandoned = cause;
      establishing.cm().execute(Work.of(() -> fail(cause)));
    }
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
