package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ConnectAnswer.Reason;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;

/**
 * An inbound connection that was found worth a queue pair: makes it on the slow pool, and hands it
 * to an {@link OwnerConnection}, which accepts.
 *
 * <p><b>Threads:</b> events come on the CM thread; the rest belongs to the progress thread.
 * <b>Failure:</b> should an Error keep it from its end, {@link #close} takes that up.
 */
final class Inbound extends LiveConnections.Connection implements CmThread.Watcher, LinkWork.Owner {
  private final Establishing establishing;
  private final OwnerConnection.Caller caller;
  private final MutualChallenge challenge;
  private final LinkWork parts;
  private final Signal loopTurn;
  private volatile TransportException lost;
  private OwnerConnection connection; // progress thread

  Inbound(
      Establishing establishing,
      CmId id,
      OwnerConnection.Caller caller,
      MutualChallenge challenge) {
    this.establishing = establishing;
    this.caller = caller;
    this.challenge = challenge;
    this.parts = new LinkWork(establishing, caller.domain(), establishing.ownerShape(), this);
    this.parts.useId(id);
    this.loopTurn = new Signal(establishing.context().loop(), this::onLoopTurn);
  }

  /** On the CM thread. If it throws, the id and the permit are still the caller's. */
  void start() {
    establishing.cm().watch(parts.id(), this);
    parts.make();
  }

  @Override
  public void onEvent(CmEvent event) {
    switch (event.type()) {
      case CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED, ADDR_CHANGE, DEVICE_REMOVAL -> {
        String what = caller.name() + ": " + event.type() + ", status " + event.status();
        lost = new TransportException(Kind.PEER_LOST, what);
        loopTurn.raise();
      }
      default -> {
        // ESTABLISHED: the reader's first frame says as much. Others concern nobody.
      }
    }
  }

  // ---- on the progress thread

  @Override
  public void onMade() {
    establishing.context().live().add(this);
    if (parts.link() == null) {
      refuse(parts.failure());
    } else {
      takeOver();
    }
  }

  private void refuse(Throwable cause) {
    boolean full = cause instanceof TransportException e && e.kind() == Kind.RETRY;
    Reason reason = full ? Reason.CONNECTION_CAP : Reason.SETUP_FAILED;
    try {
      challenge.wipe();
      establishing.context().counters().increment(Counter.CONNECTIONS_REFUSED);
      Rejecting.log(
          establishing.context().logLimit(), caller.peer(), reason, String.valueOf(cause));
    } finally {
      parts.reject(reason);
    }
  }

  private void takeOver() {
    ChannelContext context = establishing.context();
    connection = new OwnerConnection(context, caller, parts.link(), challenge);
    context.live().remove(this);
    context.live().add(connection);
    if (lost != null) {
      connection.close(lost);
    } else if (establishing.limits().isClosed()) {
      connection.close(new TransportException(Kind.RETRY, establishing.limits().closedReason()));
    } else {
      connection.accept(establishing.connectTimeoutNs());
    }
  }

  private void onLoopTurn() {
    if (connection != null && lost != null) {
      connection.close(lost);
    }
  }

  /** It has come back from the slow pool, and is not yet a connection. */
  @Override
  public void close(TransportException cause) {
    if (lost == null) {
      lost = cause;
    }
    if (parts.link() == null) {
      parts.close();
    } else {
      takeOver();
    }
  }

  @Override
  public void onGone() {
    establishing.context().live().remove(this);
    caller.permit().close();
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
