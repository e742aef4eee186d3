package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.impl.NatIbvContext;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.DeviceAttributes;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;
import java.net.InetAddress;

/**
 * The device that an id bound to its address leads to. The id lives as long as this, and hears of
 * the device's removal even where there are no connections.
 */
final class LoadedDevice implements Device {
  private final Disni disni;
  private final InetAddress address;
  private final long channel;
  private final long id;
  private final long context;
  private final IbvContext ibvContext;
  private final String name;
  private final DeviceAttributes attributes;
  private final EventBuffer removal = new EventBuffer();
  private volatile boolean closed;

  private LoadedDevice(Disni disni, InetAddress address, long channel, long id, long context)
      throws IOException {
    this.disni = disni;
    this.address = address;
    this.channel = channel;
    this.id = id;
    this.context = context;
    ibvContext = new NatIbvContext(context, disni.natives());
    name = NativeExtras.deviceName(context);
    attributes = attributes(NativeExtras.deviceAttributes(context));
  }

  static LoadedDevice open(Disni disni, InetAddress local) throws VerbsException {
    NativeDispatcher natives = disni.natives();
    long channel = -1;
    long id = -1;
    try (SocketAddress4 address = SocketAddress4.of(local, 0)) {
      channel = natives._createEventChannel();
      id = natives._createId(channel, RdmaCm.RDMA_PS_TCP);
      natives._bindAddr(id, address.pointer());
      long context = natives._getContext(id);
      if (context < 0) {
        throw new VerbsException(
            Kind.CONFIG, "no RDMA adapter owns the address " + local.getHostAddress(), 0);
      }
      LoadedDevice device = new LoadedDevice(disni, local, channel, id, context);
      disni.libraries().acquire();
      id = -1;
      channel = -1;
      return device;
    } catch (VerbsException e) {
      throw e;
    } catch (IOException e) {
      throw Failures.of(e, "for the adapter of " + local.getHostAddress() + remedy(e));
    } finally {
      release(natives, channel, id);
    }
  }

  /** A host without adapters has no /dev/infiniband/rdma_cm; what librdmacm says then is ENODEV. */
  private static String remedy(IOException e) {
    boolean none = e instanceof NativeFailure f && f.errno() == Failures.ENODEV;
    return none
        ? ": this host has none, or the kernel modules rdma_cm and rdma_ucm are not loaded"
        : "";
  }

  private static void release(NativeDispatcher natives, long channel, long id) {
    if (id >= 0) {
      natives._destroyCmId(id);
    }
    if (channel >= 0) {
      natives._destroyEventChannel(channel);
    }
  }

  private static DeviceAttributes attributes(long[] a) { // the order of rdma_device.c
    return new DeviceAttributes(
        (int) a[0],
        (int) a[1],
        (int) a[2],
        (int) a[3],
        Math.min(a[4], LoadedDomain.MAX_REGION_BYTES),
        (int) a[5],
        (int) a[6],
        (int) a[7],
        a[8] != 0);
  }

  Disni disni() {
    return disni;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public InetAddress address() {
    return address;
  }

  @Override
  public DeviceAttributes attributes() {
    return attributes;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() throws VerbsException {
    requireOpen();
    return disni.libraries().holding(() -> LoadedDomain.allocate(this, ibvContext));
  }

  @Override
  public CompletionQueue createCompletionQueue(int entries) throws VerbsException {
    requireOpen();
    return disni.libraries().holding(() -> LoadedCompletionQueue.create(this, ibvContext, entries));
  }

  @Override
  public CmChannel openCmChannel() throws VerbsException {
    requireOpen();
    return disni.libraries().holding(() -> LoadedCmChannel.open(this));
  }

  @Override
  public AsyncEvent pollAsyncEvent() throws VerbsException {
    requireOpen();
    return disni.libraries().holding(this::nextAsyncEvent);
  }

  private AsyncEvent nextAsyncEvent() throws VerbsException {
    try {
      int code = NativeExtras.asyncEvent(context);
      return code < 0 ? pollRemoval() : new AsyncEvent(AsyncEvents.type(code), code);
    } catch (NativeFailure e) {
      throw Failures.of(e, "of " + name);
    }
  }

  /** An id that only is bound hears of nothing else. */
  private synchronized AsyncEvent pollRemoval() throws NativeFailure { // one buffer
    int type = NativeExtras.nextEvent(channel, 0, removal.pointer());
    return type == CmEvent.Type.DEVICE_REMOVAL.ordinal()
        ? new AsyncEvent(AsyncEvent.Type.DEVICE_REMOVED, type)
        : null;
  }

  private void requireOpen() throws VerbsException {
    if (closed) {
      throw Failures.closed("device " + name);
    }
  }

  @Override
  public synchronized void close() { // rare, and must not release twice
    if (closed) {
      return;
    }
    closed = true;
    release(disni.natives(), channel, id);
    disni.libraries().release();
  }
}
