package io.rdmashuffle.transport.verbs.disni.impl;

import io.rdmashuffle.transport.verbs.HeldFile;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A descriptor of this process, which proc(5) lets it open again by a path. */
final class LoadedFile implements HeldFile {
  private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
  private final int descriptor;
  private final AtomicInteger open;
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param descriptor taken over
   * @param open counts those that are
   */
  static LoadedFile of(int descriptor, AtomicInteger open) {
    LoadedFile file = null;
    try {
      file = new LoadedFile(descriptor, open);
      return file;
    } finally {
      if (file == null) {
        NativeExtras.closeFile(descriptor);
      }
    }
  }

  private LoadedFile(int descriptor, AtomicInteger open) {
    this.descriptor = descriptor;
    this.open = open;
    open.incrementAndGet();
  }

  @Override
  public Path path() {
    if (closed.get()) {
      throw new IllegalStateException("the file is not held any more");
    }
    return DESCRIPTORS.resolve(Integer.toString(descriptor));
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      NativeExtras.closeFile(descriptor);
      open.decrementAndGet();
    }
  }
}
