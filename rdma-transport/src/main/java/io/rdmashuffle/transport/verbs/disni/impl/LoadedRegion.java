package io.rdmashuffle.transport.verbs.disni.impl;

import com.ibm.disni.verbs.impl.NativeDispatcher;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import java.io.IOException;

/** One ibv_mr. */
final class LoadedRegion implements MemoryRegion {
  private final NativeDispatcher natives;
  private final long address;
  private final long bytes;
  private long handle;
  private int lkey;
  private int rkey;
  private boolean closed; // guarded by this

  private LoadedRegion(NativeDispatcher natives, long address, long bytes) {
    this.natives = natives;
    this.address = address;
    this.bytes = bytes;
  }

  /** Everything is made before the adapter is asked: what it registers cannot get lost. */
  static LoadedRegion register(
      NativeDispatcher natives, long domain, long address, int bytes, int access)
      throws IOException {
    NativeBuffer keys = NativeBuffer.allocate(3 * Integer.BYTES); // lkey, rkey, the adapter's own
    LoadedRegion region = new LoadedRegion(natives, address, bytes);
    long at = keys.address();
    region.handle =
        natives._regMr(
            domain, address, bytes, access, at, at + Integer.BYTES, at + 2 * Integer.BYTES);
    region.lkey = keys.bytes().getInt(0);
    region.rkey = keys.bytes().getInt(Integer.BYTES);
    return region;
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
