package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.DeviceListener;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.wire.BlockKey;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fetches blocks by RDMA READ. Everything but admission happens on the progress thread; the
 * listener is called on delivery threads.
 *
 * <p><b>Closing</b> falls back what is in progress at once, then waits until no adapter writes into
 * the landing memory any more. Blocks that consumers hold stay valid until they close them.
 */
public final class RdmaBlockClient implements BlockClient, DeviceListener {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaBlockClient.class);

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  private final ClientContext context;
  private final PeerTable peers;
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Signal close; // made in advance: closing must not fail

  public RdmaBlockClient(ClientParts parts) {
    context = ClientContext.of(parts);
    peers = new PeerTable(context);
    close = new Signal(context.loop(), this::closeInLoop);
    context.loop().addRecovery(this::recover);
  }

  /** What is under way may miss something: all of it falls back, and new fetches connect anew. */
  private void recover(Throwable cause) {
    context.outcomes().fallBackAll(FallbackReason.TRANSFER_FAILED);
    peers.breakOff(new TransportException(Kind.RETRY, "an error of this process", cause));
    if (closing.get()) {
      closeInLoop(); // which the error may have kept from its end
    }
  }

  @Override
  public void fetch(Peer peer, List<BlockKey> keys, FetchListener listener) {
    if (keys.isEmpty()) {
      return;
    }
    Fetch fetch = new Fetch(peer, keys, listener);
    if (closing.get()) {
      context.outcomes().refuse(fetch, FallbackReason.STOPPING);
    } else if (!context.loop().offer(Work.of(() -> enter(fetch)))) {
      context.outcomes().refuse(fetch, FallbackReason.OVERLOADED);
    }
  }

  private void enter(Fetch fetch) {
    context.outcomes().admit(fetch);
    if (closing.get()) {
      context.outcomes().fallBackRest(fetch, FallbackReason.STOPPING);
      context.outcomes().flush(); // there may be no next round
      return;
    }
    PeerLink link = peers.link(fetch.peer());
    if (link == null) {
      context.outcomes().fallBackRest(fetch, FallbackReason.OVERLOADED);
      return;
    }
    long nowNs = context.loop().nowNs();
    if (!link.isResting(nowNs) && !context.device().admits(fetch.peer().id(), nowNs)) {
      context.outcomes().fallBackRest(fetch, FallbackReason.BREAKER_OPEN);
      return;
    }
    fetch.admit(
        context
            .loop()
            .schedule(context.settings().fetchTimeout().toNanos(), () -> timeOver(fetch)));
    link.submit(fetch);
  }

  private void timeOver(Fetch fetch) {
    context.log(
        fetch.peer(),
        FallbackReason.TRANSFER_FAILED,
        more ->
            LOG.warn(
                "[{}] did not deliver {} blocks within {} ms; the engine's own shuffle serves the"
                    + " rest{}",
                fetch.peer(),
                fetch.size(),
                context.settings().fetchTimeout().toMillis(),
                more));
    context.outcomes().fallBackRest(fetch, FallbackReason.TRANSFER_FAILED);
  }

  @Override
  public void forget(String peerId) {
    context.loop().execute(() -> peers.forget(peerId));
  }

  /**
   * When the adapter or its port is down, everything in progress falls back at once instead of
   * running into time-outs; when it works again, the next fetch may try it. Progress thread.
   */
  @Override
  public void onDeviceEvent(AsyncEvent event) {
    long nowNs = context.loop().nowNs();
    switch (event.type()) {
      case PORT_ACTIVE -> context.device().deviceBack(nowNs);
      case PORT_DOWN, DEVICE_FATAL, DEVICE_REMOVED, CQ_ERROR -> {
        String why = "the adapter reports " + event.type() + " (" + event.code() + ")";
        context.device().deviceLost(why, nowNs);
        peers.breakOff(new TransportException(Kind.PEER_LOST, why));
      }
      default -> LOG.debug("nothing to do for {}", event);
    }
  }

  @Override
  public void close() {
    beginClose();
    if (!context.loop().inLoop()) {
      awaitClose();
    }
  }

  private void beginClose() {
    if (closing.compareAndSet(false, true)) {
      close.raise();
    }
  }

  /** May be called again. */
  private void closeInLoop() {
    peers.close(new TransportException(Kind.PEER_LOST, "this reader is stopping"));
    context.memory().close();
    context.outcomes().flush();
    context.outstanding().close();
  }

  private void awaitClose() {
    try {
      context.outstanding().ended().get(CLOSE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (TimeoutException e) {
      LOG.warn("Connections of this reader are still closing after {}", CLOSE_TIMEOUT);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }
}
