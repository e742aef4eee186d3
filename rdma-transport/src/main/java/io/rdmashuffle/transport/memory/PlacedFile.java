package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file, and the place that it shares with others which can be mapped and registered as it can, or
 * cannot: same file system, same owner. What was found out of one holds for all of them, so there
 * should be few places, however many files come and go.
 *
 * @param path of the file
 * @param place a directory above it
 * @param guard empty for a file in directories that only this process changes; else it is reached
 *     beneath the place, without following links, and used only if it is what it was
 */
public record PlacedFile(Path path, Path place, Optional<FileGuard> guard) {
  /** Where each directory is a place of its own, and only this process changes it. */
  public static PlacedFile of(Path path) {
    Path parent = Optional.ofNullable(path.getParent()).orElse(Path.of(""));
    return new PlacedFile(path, parent, Optional.empty());
  }

  /**
   * Holds it for as long as somebody opens it through the path of what is returned. Slow.
   *
   * @return the caller closes it
   * @throws TransportException of kind CONFIG if it is guarded and gone, behind a link, or another
   */
  public HeldFile hold(HostMemory host) throws TransportException {
    if (guard.isEmpty()) {
      return new Named(path);
    }
    try (CloseStack undo = new CloseStack()) {
      HeldFile held = undo.push(host.holdBeneath(place, place.relativize(path)));
      guard.get().requireIs(held);
      undo.handOver();
      return held;
    } catch (IOException e) {
      throw new TransportException(Kind.CONFIG, path + " is not to be had: " + e.getMessage(), e);
    }
  }

  /** A path that nobody else changes leads to its file anyway. */
  private record Named(Path path) implements HeldFile {
    @Override
    public void close() {
      // nothing is held
    }
  }
}
