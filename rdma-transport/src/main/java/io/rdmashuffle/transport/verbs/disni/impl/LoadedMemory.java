package io.rdmashuffle.transport.verbs.disni.impl;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.device.Memlock;
import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;

/** Memory through mmap(2). */
final class LoadedMemory implements HostMemory {
  private static final Path PROCESS = Path.of("/proc/self");
  private final int pageBytes = NativeExtras.pageBytes();
  private final AtomicInteger mappings = new AtomicInteger();
  private final AtomicInteger files = new AtomicInteger();
  private volatile boolean walks; // once openat2(2) has turned out to be missing

  @Override
  public int pageBytes() {
    return pageBytes;
  }

  @Override
  public long memlockBytes() {
    try {
      long limit = NativeExtras.memlockLimit();
      return limit < 0 || mayLockAll() ? Long.MAX_VALUE : limit;
    } catch (NativeFailure e) {
      throw new IllegalStateException(Failures.of(e, "of RLIMIT_MEMLOCK").getMessage(), e);
    }
  }

  private static boolean mayLockAll() {
    return NativeExtras.mayLockAll() && Memlock.isInFirstUserNamespace(PROCESS);
  }

  @Override
  public Mapping allocate(long bytes) throws VerbsException {
    requirePositive(bytes);
    try {
      return LoadedMapping.writable(NativeExtras.mapAnonymous(bytes), bytes, mappings);
    } catch (NativeFailure e) {
      throw Failures.of(e, "of " + bytes + " bytes");
    }
  }

  @Override
  public Mapping mapFile(Path file, long offsetBytes, long bytes, MapMode mode)
      throws VerbsException {
    requirePositive(bytes);
    if (offsetBytes < 0 || offsetBytes % pageBytes != 0) {
      throw new VerbsException(
          Kind.BUG,
          file + ": offset " + offsetBytes + " is not a multiple of the page, " + pageBytes,
          Failures.EINVAL);
    }
    try {
      boolean writable = mode == MapMode.READ_WRITE;
      long address = NativeExtras.mapFile(file.toString(), offsetBytes, bytes, writable);
      return LoadedMapping.readOnly(address, bytes, mappings);
    } catch (NativeFailure e) {
      String part = file + ", " + bytes + " bytes from " + offsetBytes;
      throw Failures.of(
          e, "of " + part + (e.errno() == Failures.ENODATA ? ", is shorter than that" : ""));
    }
  }

  @Override
  public HeldFile holdBeneath(Path directory, Path relative) throws VerbsException {
    try {
      return LoadedFile.of(descriptorOf(directory.toString(), relative.toString()), files);
    } catch (NativeFailure e) {
      throw Failures.of(e, "of " + relative + " beneath " + directory);
    }
  }

  /** A filter of system calls that does not know openat2 answers EPERM, as older containers do. */
  private int descriptorOf(String directory, String relative) throws NativeFailure {
    if (!walks) {
      try {
        return NativeExtras.openBeneath(directory, relative);
      } catch (NativeFailure e) {
        if (e.errno() != Failures.ENOSYS && e.errno() != Failures.EPERM) {
          throw e;
        }
      }
      walks = true;
    }
    return NativeExtras.walkBeneath(directory, relative);
  }

  int openMappings() {
    return mappings.get();
  }

  /** Files held. */
  int openFiles() {
    return files.get();
  }

  private static void requirePositive(long bytes) throws VerbsException {
    if (bytes <= 0) {
      throw new VerbsException(Kind.BUG, "a mapping of " + bytes + " bytes", Failures.EINVAL);
    }
  }
}
