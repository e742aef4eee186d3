package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ConnectAnswer.Reason;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;

/**
 * An inbound connection that was found worth a queue pair: makes it on the slow pool, and hands it
 * to an {@link OwnerConnection}, which accepts.
 *
 * <p><b>Threads:</b> events come on the CM thread; the connection belongs to the progress thread.
 */
final class Inbound implements CmThread.Watcher {
  private final Establishing establishing;
  private final CmId id;
  private final OwnerConnection.Caller caller;
  private final MutualChallenge challenge;
  private OwnerConnection connection; // progress thread
  private TransportException lost; // progress thread

  Inbound(
      Establishing establishing,
      CmId id,
      OwnerConnection.Caller caller,
      MutualChallenge challenge) {
    this.establishing = establishing;
    this.id = id;
    this.caller = caller;
    this.challenge = challenge;
  }

  /** On the CM thread. */
  void start() {
    establishing.cm().watch(id, this);
    establishing.context().slowPool().execute(Work.of(this::makeLink));
  }

  /** On the slow pool. */
  private void makeLink() {
    ChannelContext context = establishing.context();
    try {
      Link link = establishing.maker().make(id, caller.domain(), establishing.ownerShape());
      context.loop().execute(() -> takeOver(link));
    } catch (TransportException e) {
      giveUp(e.kind() == Kind.RETRY ? Reason.CONNECTION_CAP : Reason.SETUP_FAILED, e);
    } catch (RuntimeException e) {
      giveUp(Reason.SETUP_FAILED, e);
    }
  }

  /** On the slow pool: nobody else uses the id. */
  private void giveUp(Reason reason, Exception cause) {
    challenge.wipe();
    Rejecting.log(establishing.context().logLimit(), caller.peer(), reason, cause.getMessage());
    establishing.context().counters().increment(Counter.CONNECTIONS_REFUSED);
    Rejecting.rejectAndClose(id, reason);
    establishing.cm().execute(Work.of(() -> establishing.cm().forget(id)));
    caller.permit().close();
  }

  @Override
  public void onEvent(CmEvent event) {
    switch (event.type()) {
      case CONNECT_ERROR, UNREACHABLE, REJECTED, DISCONNECTED, ADDR_CHANGE, DEVICE_REMOVAL -> {
        String what = caller.name() + ": " + event.type() + ", status " + event.status();
        TransportException cause = new TransportException(Kind.PEER_LOST, what);
        establishing.context().loop().execute(() -> lost(cause));
      }
      default -> {
        // ESTABLISHED: the reader's first frame says as much. Others concern nobody.
      }
    }
  }

  // ---- on the progress thread

  private void takeOver(Link link) {
    connection = new OwnerConnection(establishing.context(), caller, link, challenge);
    establishing.context().live().add(connection);
    if (lost != null) {
      connection.close(lost);
    } else if (establishing.limits().isClosed()) {
      connection.close(new TransportException(Kind.RETRY, establishing.limits().closedReason()));
    } else {
      connection.accept(establishing.connectTimeoutNs());
    }
  }

  private void lost(TransportException cause) {
    if (connection != null) {
      connection.close(cause);
    } else {
      lost = cause;
    }
  }
}
