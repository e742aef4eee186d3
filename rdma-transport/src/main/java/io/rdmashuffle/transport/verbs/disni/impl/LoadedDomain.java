package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.impl.NatIbvPd;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;

/** One ibv_pd. */
final class LoadedDomain implements ProtectionDomain {
  /** DiSNI passes a region's length as an int. */
  static final long MAX_REGION_BYTES = Integer.MAX_VALUE;

  private final LoadedDevice device;
  private final long handle;
  private volatile boolean closed;

  private LoadedDomain(LoadedDevice device, NatIbvPd domain) {
    this.device = device;
    handle = domain.getObjId();
  }

  static LoadedDomain allocate(LoadedDevice device, IbvContext context) throws VerbsException {
    try {
      return new LoadedDomain(device, (NatIbvPd) device.disni().verbs().allocPd(context));
    } catch (IOException e) {
      throw Failures.of(e, "on " + device.name());
    }
  }

  long handle() {
    return handle;
  }

  @Override
  public MemoryRegion register(long address, long bytes, Access access) throws VerbsException {
    if (bytes <= 0 || bytes > device.attributes().maxMrBytes()) {
      throw new VerbsException(
          Kind.BUG,
          "a region of "
              + bytes
              + " bytes on "
              + device.name()
              + ": one holds 1 to "
              + device.attributes().maxMrBytes(),
          Failures.EINVAL);
    }
    try {
      return LoadedRegion.register(
          device.disni().natives(), handle, address, (int) bytes, flags(access));
    } catch (IOException e) {
      throw Failures.of(e, "of " + bytes + " bytes for " + access + " on " + device.name());
    }
  }

  private static int flags(Access access) {
    return switch (access) {
      case LOCAL_READ -> 0;
      case LOCAL_WRITE -> IbvMr.IBV_ACCESS_LOCAL_WRITE;
      case LOCAL_AND_REMOTE_WRITE -> IbvMr.IBV_ACCESS_LOCAL_WRITE | IbvMr.IBV_ACCESS_REMOTE_WRITE;
      case REMOTE_READ -> IbvMr.IBV_ACCESS_REMOTE_READ;
    };
  }

  /**
   * Idempotent.
   *
   * @throws IllegalStateException if regions or queue pairs of it are open: it stays open then
   */
  @Override
  public synchronized void close() { // rare, and must not release twice
    if (closed) {
      return;
    }
    int result = device.disni().natives()._deallocPd(handle);
    closed = result >= 0; // before anything that may fail
    if (!closed) {
      Failures.checkClosed(result, "ibv_dealloc_pd", "on " + device.name());
    }
  }
}
