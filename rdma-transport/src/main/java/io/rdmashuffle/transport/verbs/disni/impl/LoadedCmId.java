package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.QueuePair;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** One rdma_cm_id. */
final class LoadedCmId implements CmId {
  private static final int MAX_CONNECT_DATA = 56;
  private static final int MAX_ACCEPT_DATA = 196;
  private static final int MAX_REJECT_DATA = 148;

  private final LoadedDevice device;
  private final NativeDispatcher natives;
  private final LoadedCmChannel channel;
  private final long handle;
  private boolean closed; // guarded by this

  LoadedCmId(LoadedDevice device, LoadedCmChannel channel, long handle) {
    this.device = device;
    this.natives = device.disni().natives();
    this.channel = channel;
    this.handle = handle;
  }

  void listen(int port, int backlog) throws VerbsException {
    try (SocketAddress4 local = SocketAddress4.of(device.address(), port)) {
      natives._bindAddr(handle, local.pointer());
      natives._listen(handle, backlog);
    } catch (VerbsException e) {
      throw e;
    } catch (IOException e) {
      throw Failures.of(e, "to " + device.address().getHostAddress() + ":" + port);
    }
  }

  @Override
  public void resolveAddress(InetSocketAddress peer, long timeoutNs) throws VerbsException {
    try (SocketAddress4 local = SocketAddress4.of(device.address(), 0);
        SocketAddress4 remote = SocketAddress4.of(peer.getAddress(), peer.getPort())) {
      natives._resolveAddr(handle, local.pointer(), remote.pointer(), milliseconds(timeoutNs));
    } catch (VerbsException e) {
      throw e;
    } catch (IOException e) {
      throw Failures.of(e, "of " + peer + " from " + device.address().getHostAddress());
    }
  }

  @Override
  public void resolveRoute(long timeoutNs) throws VerbsException {
    try {
      natives._resolveRoute(handle, milliseconds(timeoutNs));
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** Rounded up, so that no time is not taken for none. */
  private static int milliseconds(long timeoutNs) {
    long ms = TimeUnit.NANOSECONDS.toMillis(timeoutNs - 1) + 1;
    return (int) Math.max(1, Math.min(ms, Integer.MAX_VALUE));
  }

  @Override
  public QueuePair createQueuePair(
      ProtectionDomain domain, CompletionQueue completions, QueuePairCapacity capacity)
      throws VerbsException {
    long queue = ((LoadedCompletionQueue) completions).handle();
    try {
      return new LoadedQueuePair(
          natives,
          this,
          natives._createQP(
              handle,
              ((LoadedDomain) domain).handle(),
              queue,
              queue,
              IbvQP.IBV_QPT_RC,
              capacity.sendEntries(),
              capacity.receiveEntries(),
              0));
    } catch (IOException e) {
      throw Failures.of(
          e,
          "with "
              + capacity
              + " on "
              + device.name()
              + " (at most "
              + device.attributes().maxQpWr()
              + " entries)");
    }
  }

  @Override
  public void connect(byte[] privateData) throws VerbsException {
    requireShort(privateData, MAX_CONNECT_DATA, "connect request");
    try {
      NativeExtras.connect(handle, privateData);
    } catch (NativeFailure e) {
      throw failed(e);
    }
  }

  @Override
  public void accept(byte[] privateData) throws VerbsException {
    requireShort(privateData, MAX_ACCEPT_DATA, "accept");
    try {
      NativeExtras.accept(handle, privateData);
    } catch (NativeFailure e) {
      throw failed(e);
    }
  }

  @Override
  public void reject(byte[] privateData) throws VerbsException {
    requireShort(privateData, MAX_REJECT_DATA, "reject");
    try {
      NativeExtras.reject(handle, privateData);
    } catch (NativeFailure e) {
      throw failed(e);
    }
  }

  private static void requireShort(byte[] privateData, int limit, String message)
      throws VerbsException {
    if (privateData.length > limit) {
      throw new VerbsException(
          Kind.BUG,
          privateData.length + " bytes of private data: a " + message + " carries " + limit,
          Failures.EINVAL);
    }
  }

  @Override
  public void disconnect() throws VerbsException {
    int errno = -natives._disconnect(handle);
    // What is not or no longer connected: librdmacm says so with either.
    if (errno > 0 && errno != Failures.EINVAL && errno != Failures.ENOTCONN) {
      throw Failures.of("rdma_disconnect", describe(), errno);
    }
  }

  @Override
  public InetSocketAddress localAddress() throws VerbsException {
    try (SocketAddress4 address = SocketAddress4.empty()) {
      requireOpen(natives._getSrcAddr(handle, address.pointer()));
      return address.value();
    }
  }

  @Override
  public InetSocketAddress peerAddress() throws VerbsException {
    try (SocketAddress4 address = SocketAddress4.empty()) {
      requireOpen(natives._getDstAddr(handle, address.pointer()));
      return address.value();
    }
  }

  private static void requireOpen(int result) throws VerbsException {
    if (result < 0) {
      throw Failures.closed("the connection id");
    }
  }

  /** For messages: never throws. */
  String describe() {
    try {
      return "to " + peerAddress() + " from " + localAddress();
    } catch (VerbsException e) {
      return "of a closed connection";
    }
  }

  private VerbsException failed(IOException e) {
    return Failures.of(e, describe());
  }

  /**
   * Idempotent, and harmless once this is closed.
   *
   * @throws IllegalStateException if the adapter keeps it: it may write to what was posted
   */
  void destroyQueuePair() {
    int result = natives._destroyQP(handle);
    if (result != -Failures.EBADF) {
      Failures.checkClosed(result, "ibv_destroy_qp", describe());
    }
  }

  /**
   * Idempotent.
   *
   * @throws IllegalStateException if the adapter keeps the queue pair, now or when it was asked
   *     before: it may write to what was posted
   */
  @Override
  public synchronized void close() { // rare, and must not end before it is done
    if (closed) {
      return;
    }
    channel.forget(handle);
    int result = natives._destroyCmId(handle);
    closed = result >= 0; // before anything that may fail
    if (!closed) {
      Failures.checkClosed(result, "rdma_destroy_id", "of " + device.name());
    }
  }
}
