package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The address space of one fake process, with its memlock limit. */
final class FakeHostMemory implements HostMemory {
  private final FakeFabric fabric;
  private final long memlockBytes;
  private final int pageBytes;
  private final TreeMap<Long, FakeMapping> mappings = new TreeMap<>();
  private final Map<Long, Deque<Long>> freed = new HashMap<>(); // by size, last freed first
  private long nextAddress = 0x7f00_0000_0000L;
  private long pinnedBytes;

  FakeHostMemory(FakeFabric fabric, long memlockBytes, int pageBytes) {
    this.fabric = fabric;
    this.memlockBytes = memlockBytes;
    this.pageBytes = pageBytes;
  }

  @Override
  public int pageBytes() {
    return pageBytes;
  }

  @Override
  public long memlockBytes() {
    return memlockBytes;
  }

  @Override
  public Mapping allocate(long bytes) throws VerbsException {
    requireSize("mmap", bytes);
    synchronized (fabric) {
      return add(new AnonymousMapping(this, new FakeRegion.Range(takeAddress(bytes), bytes)));
    }
  }

  @Override
  public Mapping mapFile(Path file, long offsetBytes, long bytes, MapMode mode)
      throws VerbsException {
    String call = "mmap of " + file + " at " + offsetBytes + ", " + bytes + " bytes, " + mode;
    requireSize(call, bytes);
    if (offsetBytes < 0 || offsetBytes % pageBytes != 0) {
      throw Tracked.failure(Kind.CONFIG, call, Errno.EINVAL);
    }
    synchronized (fabric) {
      FileChannel channel = open(file, mode, call);
      try {
        long fileBytes = channel.size();
        if (bytes > roundUp(fileBytes) - offsetBytes) {
          throw Tracked.failure(
              Kind.CONFIG, call + ", but it has " + fileBytes + " bytes", Errno.EINVAL);
        }
        FakeRegion.Range range = new FakeRegion.Range(takeAddress(bytes), bytes);
        FileMapping.Source source = new FileMapping.Source(file, channel, offsetBytes, mode);
        return add(new FileMapping(this, range, source, FileMapping.map(source, bytes)));
      } catch (IOException e) {
        closeAfter(channel, e);
        throw e instanceof VerbsException v ? v : Tracked.failure(Kind.CONFIG, call, Errno.EIO);
      }
    }
  }

  /** Good enough where nobody changes the directories meanwhile. */
  @Override
  public HeldFile holdBeneath(Path directory, Path relative) throws VerbsException {
    Path at = directory;
    for (Path name : relative) {
      at = at.resolve(name);
      if (name.toString().equals("..") || Files.isSymbolicLink(at)) {
        throw Tracked.failure(Kind.CONFIG, "open of " + relative + ": " + name, Errno.ELOOP);
      }
    }
    if (!Files.exists(at)) {
      throw Tracked.failure(Kind.CONFIG, "open of " + at, Errno.ENOENT);
    }
    return new FakeHeldFile(at);
  }

  private record FakeHeldFile(Path path) implements HeldFile {
    @Override
    public void close() {
      // nothing is held
    }
  }

  private static FileChannel open(Path file, MapMode mode, String call) throws VerbsException {
    Set<StandardOpenOption> options =
        mode == MapMode.READ_ONLY
            ? Set.of(StandardOpenOption.READ)
            : Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      return FileChannel.open(file, options);
    } catch (NoSuchFileException e) {
      throw Tracked.failure(Kind.CONFIG, call, Errno.ENOENT);
    } catch (AccessDeniedException e) {
      throw Tracked.failure(Kind.CONFIG, call, Errno.EACCES);
    } catch (IOException e) {
      throw Tracked.failure(Kind.CONFIG, call + " (" + e + ")", Errno.EIO);
    }
  }

  private static void closeAfter(FileChannel channel, IOException failure) {
    try {
      channel.close();
    } catch (IOException e) {
      failure.addSuppressed(e);
    }
  }

  private static void requireSize(String call, long bytes) throws VerbsException {
    if (bytes <= 0) {
      throw Tracked.failure(Kind.CONFIG, call + " of " + bytes + " bytes", Errno.EINVAL);
    }
    if (bytes > Integer.MAX_VALUE) {
      throw Tracked.failure(Kind.RETRY, call + " of " + bytes + " bytes", Errno.ENOMEM);
    }
  }

  /** The open mapping that holds the whole range, or null. */
  FakeMapping find(long address, long bytes) {
    Map.Entry<Long, FakeMapping> entry = mappings.floorEntry(address);
    return entry != null && entry.getValue().range().covers(address, bytes)
        ? entry.getValue()
        : null;
  }

  boolean tryPin(long bytes) {
    long pages = roundUp(bytes);
    if (pages > memlockBytes - pinnedBytes) {
      return false;
    }
    pinnedBytes += pages;
    return true;
  }

  void unpin(long bytes) {
    pinnedBytes -= roundUp(bytes);
  }

  void remove(FakeMapping mapping) {
    mappings.remove(mapping.address());
    if (fabric.isReusing()) {
      freed
          .computeIfAbsent(roundUp(mapping.range().bytes()), size -> new ArrayDeque<>())
          .push(mapping.address());
    }
  }

  FakeFabric fabric() {
    return fabric;
  }

  private FakeMapping add(FakeMapping mapping) {
    mappings.put(mapping.address(), mapping);
    return mapping;
  }

  /** Never the same twice unless the fabric reuses them; with an unmapped page behind each. */
  private long takeAddress(long bytes) {
    Deque<Long> free = freed.get(roundUp(bytes));
    if (free != null && !free.isEmpty()) {
      return free.pop();
    }
    long address = nextAddress;
    nextAddress += roundUp(bytes) + pageBytes;
    return address;
  }

  private long roundUp(long bytes) {
    return (bytes + pageBytes - 1) / pageBytes * pageBytes;
  }
}
