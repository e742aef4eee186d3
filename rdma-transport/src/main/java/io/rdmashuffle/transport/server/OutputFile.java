package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.memory.PlacedFile;
import java.nio.file.Path;

/**
 * One map-output file. Identity counts, not the path: a file replaced under the same name is
 * another {@code OutputFile}. Immutable, any thread.
 */
public final class OutputFile {
  private final PlacedFile placed;
  private final long bytes;

  /**
   * A file that only this process writes.
   *
   * @param bytes length as the index says
   */
  public OutputFile(Path path, long bytes) {
    this(PlacedFile.of(path), bytes);
  }

  /**
   * A file that may lie in a directory that others may change: guarded, it is served only as long
   * as it is what was looked at and found right.
   *
   * @param bytes length as the index says
   */
  public OutputFile(PlacedFile placed, long bytes) {
    this.placed = placed;
    this.bytes = bytes;
  }

  public Path path() {
    return placed.path();
  }

  PlacedFile placed() {
    return placed;
  }

  /** Whether both were the same file, unchanged, when they were looked at. */
  public boolean isAs(OutputFile other) {
    return placed.equals(other.placed) && bytes == other.bytes;
  }

  /** Whether a file found on disk may be this one. */
  boolean mayBe(Object foundKey) {
    return placed.guard().map(guard -> guard.key().equals(foundKey)).orElse(true);
  }

  public long bytes() {
    return bytes;
  }

  @Override
  public String toString() {
    return path() + " (" + bytes + " bytes)";
  }
}
