package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.Workers;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.wire.WireCodec;
import java.security.SecureRandom;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The parts of a channel layer put together, without the threads that run them: {@link
 * ChannelLayer} starts those, tests step the parts themselves.
 */
final class ChannelCore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ChannelCore.class);
  private static final int BACKLOG = 128;
  private static final String STOPPING = "this side is stopping";

  private final CloseStack devices; // the queue, then the channel
  private final ProgressThread loop;
  private final CmThread cm;
  private final ConnectionLimits limits;
  private final LiveConnections live = new LiveConnections();
  private final Establishing establishing;
  private final DeviceWatch deviceWatch;
  private final Signal closeAll; // made in advance: closing must not fail
  private CmId listener;

  private ChannelCore(
      ChannelParts parts, ChannelSettings settings, Workers slowPool, Gate gate, CloseStack undo)
      throws VerbsException {
    limits = ConnectionLimits.of(settings, parts.device().attributes());
    CompletionQueue queue =
        undo.push(parts.device().createCompletionQueue(limits.completionEntries()));
    CmChannel channel = undo.push(parts.device().openCmChannel());
    loop = new ProgressThread(queue, parts.clock(), settings.spin(), gate, this::queueLost);
    cm = new CmThread(channel, parts.clock(), gate, loop::fail);
    ChannelContext context =
        new ChannelContext(
            loop,
            slowPool,
            loop.completionTable(),
            new WireCodec(),
            new Hmac(),
            new SecureRandom(),
            parts.counters(),
            new LogLimit(parts.clock()),
            settings,
            live,
            cm);
    establishing = new Establishing(cm, channel, new Link.Maker(parts, queue), limits, context);
    deviceWatch = new DeviceWatch(parts.device(), loop, this::noConnectionsAnyMore);
    closeAll = new Signal(loop, () -> live.closeAll(new TransportException(Kind.RETRY, STOPPING)));
    devices = undo.handOver();
    cm.repeat(DeviceWatch.INTERVAL_NS, deviceWatch::look);
    loop.addRecovery(this::recover);
  }

  /** If this throws, nothing is left open. */
  static ChannelCore open(ChannelParts parts, ChannelSettings settings, Workers slowPool, Gate gate)
      throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      return new ChannelCore(parts, settings, slowPool, gate, undo);
    }
  }

  ProgressThread loop() {
    return loop;
  }

  CmThread cm() {
    return cm;
  }

  Dialer dialer() {
    return new OutboundDialer(establishing);
  }

  DeviceWatch deviceWatch() {
    return deviceWatch;
  }

  ConnectionLimits limits() {
    return limits;
  }

  /** Once. Returns the port. */
  int listen(int port, Credentials credentials, OwnerChannel.Acceptor acceptor)
      throws TransportException {
    if (listener != null) {
      throw new IllegalStateException("listens already");
    }
    Doorkeeper doorkeeper = new Doorkeeper(establishing, credentials, acceptor);
    cm.execute(Work.of(() -> cm.watchRequests(doorkeeper)));
    listener = establishing.channel().listen(port, BACKLOG);
    return listener.localAddress().getPort();
  }

  /**
   * Closes every connection and makes no more.
   *
   * @return completes when all are gone and everybody has been told
   */
  CompletableFuture<Void> shutDown() {
    CompletableFuture<Void> done = limits.close(STOPPING);
    try {
      if (listener != null) {
        listener.close();
      }
    } finally {
      closeAll.raise();
    }
    return done;
  }

  /** After {@link #shutDown} is done and the threads have ended. */
  @Override
  public void close() {
    devices.close();
  }

  /** Connections that are not yet gone, those being made included. */
  int liveConnections() {
    return live.size();
  }

  /** The completion queue is lost, and with it every queue pair: no connections any more. */
  private void queueLost(TransportException cause) {
    LOG.error("the completion queue is lost", cause);
    noConnectionsAnyMore(cause);
    deviceWatch.tellAll(new AsyncEvent(AsyncEvent.Type.CQ_ERROR, 0));
  }

  /** Whatever a connection may have missed, it goes on no more; others can be made. */
  private void recover(Throwable cause) {
    live.closeAll(
        new TransportException(
            Kind.RETRY, "an error of this process ended all connections", cause));
  }

  private void noConnectionsAnyMore(TransportException cause) {
    var unused = limits.close(cause.getMessage()); // shutDown() waits for its end
    live.closeAll(cause);
  }
}
