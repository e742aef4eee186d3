package io.rdmashuffle.transport.verbs.disni.impl;

import io.rdmashuffle.transport.verbs.Mapping;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** One mmap(2). Views of a file's window are read-only, so that nothing changes the file. */
final class LoadedMapping implements Mapping {
  private final long address;
  private final long bytes;
  private final boolean writable;
  private final AtomicInteger open;
  private final AtomicBoolean closed = new AtomicBoolean();

  private LoadedMapping(long address, long bytes, boolean writable, AtomicInteger open) {
    this.address = address;
    this.bytes = bytes;
    this.writable = writable;
    this.open = open;
    open.incrementAndGet();
  }

  /**
   * @param open counts the mappings that are
   */
  static LoadedMapping writable(long address, long bytes, AtomicInteger open) throws NativeFailure {
    return of(address, bytes, true, open);
  }

  static LoadedMapping readOnly(long address, long bytes, AtomicInteger open) throws NativeFailure {
    return of(address, bytes, false, open);
  }

  private static LoadedMapping of(long address, long bytes, boolean writable, AtomicInteger open)
      throws NativeFailure {
    LoadedMapping mapping = null;
    try {
      mapping = new LoadedMapping(address, bytes, writable, open);
      return mapping;
    } finally {
      if (mapping == null) {
        NativeExtras.unmap(address, bytes);
      }
    }
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
  public ByteBuffer view(long offsetBytes, int viewBytes) {
    if (closed.get()) {
      throw new IllegalStateException("the mapping of " + bytes + " bytes is closed");
    }
    if (offsetBytes < 0 || viewBytes < 0 || offsetBytes > bytes - viewBytes) {
      throw new IndexOutOfBoundsException(
          viewBytes + " bytes at " + offsetBytes + " of a mapping of " + bytes);
    }
    ByteBuffer view = NativeExtras.view(address + offsetBytes, viewBytes);
    return writable ? view : view.asReadOnlyBuffer();
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    try {
      NativeExtras.unmap(address, bytes);
    } catch (NativeFailure e) {
      throw new IllegalStateException(Failures.of(e, "of " + bytes + " bytes").getMessage(), e);
    }
    open.decrementAndGet();
  }
}
