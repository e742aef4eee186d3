package io.rdmashuffle.transport.memory;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A file, and the place that it shares with others which can be mapped and registered as it can, or
 * cannot: same file system, same owner. What was found out of one holds for all of them, so there
 * should be few places, however many files come and go.
 *
 * @param path of the file
 * @param place a directory above it
 */
public record PlacedFile(Path path, Path place) {
  /** Where each directory is a place of its own. */
  public static PlacedFile of(Path path) {
    return new PlacedFile(path, Optional.ofNullable(path.getParent()).orElse(Path.of("")));
  }
}
