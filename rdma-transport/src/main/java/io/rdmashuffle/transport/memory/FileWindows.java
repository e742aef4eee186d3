package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.HostMemory.MapMode;
import io.rdmashuffle.transport.verbs.Mapping;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * Registers parts of files in place, with the right to be READ and no other.
 *
 * <p>The first window of a place finds out which mapping the kernel lets the adapter pin: a
 * read-only one, else a writable one if the file is this process's own; never a private one, which
 * would copy every page. The answer holds for the place from then on.
 *
 * <p><b>Threads:</b> any; slow, not for the progress thread. The budget and the domains are lent.
 */
public final class FileWindows {
  private static final int EFAULT = 14; // errno(3), Linux
  private static final String NOT_OURS = " is not this process's own to map for writing";

  private final HostMemory host;
  private final MemoryBudget budget;
  private final Predicate<Path> mayOpenForWriting;
  private final Pages pages;
  private final Map<Path, WindowSupport> supportByPlace = new ConcurrentHashMap<>();

  public FileWindows(HostMemory host, MemoryBudget budget) {
    this(host, budget, new WritableFiles());
  }

  FileWindows(HostMemory host, MemoryBudget budget, Predicate<Path> mayOpenForWriting) {
    this.host = host;
    this.budget = budget;
    this.mayOpenForWriting = mayOpenForWriting;
    this.pages = new Pages(host.pageBytes());
  }

  /** What is known of a place; empty until a window in it has been tried. */
  public Optional<WindowSupport> support(Path place) {
    return Optional.ofNullable(supportByPlace.get(place));
  }

  /**
   * Maps and registers part of a file. If it throws, nothing is left reserved, mapped or
   * registered.
   *
   * @param offsetBytes start, a multiple of the page size
   * @param bytes may end behind the file's end, within its last page; counted in whole pages
   * @return the caller closes it
   * @throws TransportException of kind RETRY if the budget, the kernel (ENOMEM) or the adapter has
   *     no room; of kind CONFIG with errno EFAULT if no mapping of this place can be registered; of
   *     kind CONFIG otherwise if the file is gone, too short, or cannot be mapped
   */
  public FileWindow open(ProtectionDomain domain, PlacedFile placed, long offsetBytes, long bytes)
      throws TransportException {
    Path file = placed.path();
    if (offsetBytes < 0 || bytes <= 0 || !pages.isAligned(offsetBytes)) {
      throw new IllegalArgumentException("window " + offsetBytes + "+" + bytes + " of " + file);
    }
    long wholePages = pages.up(bytes);
    try (HeldFile held = placed.hold(host)) {
      requireInside(held.path(), offsetBytes, wholePages);
      try (CloseStack undo = new CloseStack()) {
        budget.reserve(Use.WINDOWS, wholePages, undo);
        return new Attempt(domain, held.path(), placed, offsetBytes, wholePages).open(undo);
      }
    }
  }

  private void requireInside(Path file, long offsetBytes, long bytes) throws TransportException {
    long fileBytes = sizeOf(file);
    if (bytes > pages.up(fileBytes) - offsetBytes) {
      throw new TransportException(
          Kind.CONFIG,
          "window " + offsetBytes + "+" + bytes + " of " + file + ", which has " + fileBytes);
    }
  }

  private static long sizeOf(Path file) throws TransportException {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw new TransportException(Kind.CONFIG, "no window of " + file, e);
    }
  }

  /** One window in the making. */
  private final class Attempt {
    private final ProtectionDomain domain;
    private final Path file;
    private final Path name;
    private final long offsetBytes;
    private final long bytes;
    private final Path place;

    /**
     * @param file leads to what is opened
     */
    Attempt(ProtectionDomain domain, Path file, PlacedFile placed, long offsetBytes, long bytes) {
      this.domain = domain;
      this.file = file;
      this.name = placed.path();
      this.place = placed.place();
      this.offsetBytes = offsetBytes;
      this.bytes = bytes;
    }

    FileWindow open(CloseStack undo) throws TransportException {
      WindowSupport known = supportByPlace.get(place);
      if (known == null) {
        return probe(undo);
      }
      return switch (known.mode()) {
        case READ_ONLY -> openAs(MapMode.READ_ONLY, undo);
        case READ_WRITE -> {
          requireWritable();
          yield openAs(MapMode.READ_WRITE, undo);
        }
        case NONE -> throw new VerbsException(Kind.CONFIG, known.reason(), EFAULT);
      };
    }

    private FileWindow probe(CloseStack undo) throws TransportException {
      try {
        return remember(WindowSupport.Mode.READ_ONLY, openAs(MapMode.READ_ONLY, undo));
      } catch (VerbsException e) {
        requireRefused(e);
        return probeWritable(undo, e);
      }
    }

    private FileWindow probeWritable(CloseStack undo, VerbsException readOnlyRefused)
        throws TransportException {
      if (!mayOpenForWriting.test(file)) {
        throw refuse(name.getFileName() + NOT_OURS, readOnlyRefused);
      }
      try {
        return remember(WindowSupport.Mode.READ_WRITE, openAs(MapMode.READ_WRITE, undo));
      } catch (VerbsException e) {
        requireRefused(e);
        throw refuse("this kernel refuses writable mappings, too", readOnlyRefused);
      }
    }

    /**
     * Goes on only if the kernel refused this kind of mapping. EFAULT says so, but also that the
     * file was cut short since it was looked at, which tells nothing about the place.
     */
    private void requireRefused(VerbsException failure) throws TransportException {
      if (failure.errno() != EFAULT) {
        throw failure;
      }
      requireInside(file, offsetBytes, bytes);
    }

    private FileWindow remember(WindowSupport.Mode mode, FileWindow window) {
      supportByPlace.putIfAbsent(place, new WindowSupport(mode, ""));
      return window;
    }

    private VerbsException refuse(String why, VerbsException cause) {
      String reason =
          "files in "
              + place
              + " cannot be registered: this kernel refuses read-only mappings, and "
              + why;
      supportByPlace.putIfAbsent(place, new WindowSupport(WindowSupport.Mode.NONE, reason));
      VerbsException refused = new VerbsException(Kind.CONFIG, reason, EFAULT);
      refused.addSuppressed(cause);
      return refused;
    }

    private void requireWritable() throws VerbsException {
      if (!mayOpenForWriting.test(file)) {
        throw new VerbsException(Kind.CONFIG, name + NOT_OURS, EFAULT);
      }
    }

    private FileWindow openAs(MapMode mode, CloseStack undo) throws VerbsException {
      Mapping mapping = host.mapFile(file, offsetBytes, bytes, mode);
      MemoryRegion region = null;
      FileWindow window = null;
      try {
        region = domain.register(mapping.address(), bytes, Access.REMOTE_READ);
        undo.push(mapping);
        window = new FileWindow(undo.handOver(), region, offsetBytes);
        return window;
      } finally {
        if (window == null) {
          undo(region, mapping);
        }
      }
    }

    private static void undo(MemoryRegion region, Mapping mapping) {
      if (region != null) {
        region.close();
      }
      mapping.close();
    }
  }
}
