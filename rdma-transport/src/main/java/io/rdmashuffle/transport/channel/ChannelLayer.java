package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.handover.Uninterrupted;
import io.rdmashuffle.transport.handover.Workers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All connections of one device in this process, and the threads that drive them: a progress
 * thread, a CM thread and two of the slow pool, however many peers there are.
 *
 * <p>A process that only reads dials; one that owns blocks also {@link #listen}s.
 *
 * <p><b>Threads:</b> any, but {@link Dialer} only on the progress thread. <b>Ownership:</b> the
 * opener closes it, after the server and the client that use it and before the device and the
 * domains.
 */
public final class ChannelLayer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ChannelLayer.class);
  private static final long CLOSE_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

  private final ChannelCore core;
  private final LayerThreads threads;
  private final Dialer dialer;
  private int listenPort = -1;
  private boolean closed;

  private ChannelLayer(ChannelCore core, LayerThreads threads) {
    this.core = core;
    this.threads = threads;
    this.dialer = core.dialer();
  }

  /**
   * Creates the completion queue and starts the threads. If this throws, nothing is left open.
   *
   * @param threads makes them
   */
  public static ChannelLayer open(ChannelParts parts, ChannelSettings settings, Threads threads)
      throws TransportException {
    LayerThreads layerThreads = new LayerThreads(threads);
    ChannelCore core = null;
    ChannelLayer layer = null;
    try {
      core = ChannelCore.open(parts, settings, layerThreads.slowPool(), threads.gate());
      layerThreads.start(core);
      layer = new ChannelLayer(core, layerThreads);
      return layer;
    } finally {
      if (layer == null) {
        layerThreads.end();
        if (core != null) {
          core.close();
        }
      }
    }
  }

  /**
   * Accepts readers from now on. Once.
   *
   * @param port 0 for any free one
   * @return the port
   */
  public synchronized int listen( // rare, and guards against a close meanwhile
      int port, Credentials credentials, OwnerChannel.Acceptor acceptor) throws TransportException {
    if (closed) {
      throw new IllegalStateException("closed");
    }
    listenPort = core.listen(port, credentials, acceptor);
    return listenPort;
  }

  /** Where it listens. */
  public synchronized int listenPort() {
    if (listenPort < 0) {
      throw new IllegalStateException("does not listen");
    }
    return listenPort;
  }

  /** To be used on the progress thread only. */
  public Dialer dialer() {
    return dialer;
  }

  public ProgressLoop loop() {
    return core.loop();
  }

  /** For calls that wait for the adapter or the disk. */
  public Workers slowPool() {
    return threads.slowPool();
  }

  /** Passes on what the adapter reports by itself. */
  public void addDeviceListener(DeviceListener listener) {
    core.deviceWatch().add(listener);
  }

  /** Connections in either direction, those in the making and those on their way out included. */
  public int connections() {
    return core.limits().inUse();
  }

  /**
   * Closes every connection, tells everybody, ends the threads and releases everything, in this
   * order. Idempotent. Waits up to ten seconds for the adapter; what is not gone by then is logged
   * and left, for it may still write.
   */
  @Override
  public synchronized void close() { // rare: a second caller waits for the first
    if (closed) {
      return;
    }
    closed = true;
    boolean allGone = false;
    boolean ended = false;
    try {
      allGone = await(core.shutDown());
    } finally {
      ended = threads.end();
      if (allGone && ended) {
        core.close();
      } else {
        LOG.error("not closed in time, left open: {}", core.limits().describe());
      }
    }
  }

  private static boolean await(CompletableFuture<Void> done) {
    return Uninterrupted.await(ns -> isDone(done, ns), CLOSE_TIMEOUT_NS);
  }

  private static boolean isDone(CompletableFuture<Void> done, long timeoutNs)
      throws InterruptedException {
    try {
      done.get(timeoutNs, TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      throw new IllegalStateException("never fails", e);
    }
  }
}
