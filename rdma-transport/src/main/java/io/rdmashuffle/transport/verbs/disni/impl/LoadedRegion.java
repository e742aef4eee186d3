package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import java.io.IOException;

/** One ibv_mr. */
final class LoadedRegion implements MemoryRegion {
  private final NativeDispatcher natives;
  private final long handle;
  private final long address;
  private final long bytes;
  private final int lkey;
  private final int rkey;
  private boolean closed; // guarded by this

  LoadedRegion(NativeDispatcher natives, long handle, IbvMr region, long bytes) {
    this.natives = natives;
    this.handle = handle;
    this.bytes = bytes;
    address = region.getAddr();
    lkey = region.getLkey();
    rkey = region.getRkey();
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public int lkey() {
    return lkey;
  }

  @Override
  public int rkey() {
    return rkey;
  }

  /**
   * Idempotent.
   *
   * @throws IllegalStateException if the adapter keeps the region, now or when it was asked before:
   *     its memory must stay mapped
   */
  @Override
  public synchronized void close() { // rare, and must not end before it is done
    if (closed) {
      return;
    }
    try {
      natives._deregMr(handle);
      closed = true;
    } catch (IOException e) {
      throw new IllegalStateException(Failures.of(e, "of " + bytes + " bytes").getMessage(), e);
    }
  }
}
