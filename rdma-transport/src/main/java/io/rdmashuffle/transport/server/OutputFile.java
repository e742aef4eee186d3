package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.memory.PlacedFile;
import java.nio.file.Path;
import java.util.Objects;

/**
 * One map-output file. Identity counts, not the path: a file replaced under the same name is
 * another {@code OutputFile}. Immutable, any thread.
 */
public final class OutputFile {
  private final PlacedFile placed;
  private final long bytes;
  private final Object fileKey;

  /**
   * A file that only this process writes.
   *
   * @param bytes length as the index says
   */
  public OutputFile(Path path, long bytes) {
    this(PlacedFile.of(path), bytes, null);
  }

  /**
   * A file in a directory that others may change.
   *
   * @param bytes length as the index says
   * @param fileKey of the file that was looked at and found right ({@link
   *     java.nio.file.attribute.BasicFileAttributes#fileKey}); whatever else the path leads to
   *     later is not served. Null if any will do
   */
  public OutputFile(PlacedFile placed, long bytes, Object fileKey) {
    this.placed = placed;
    this.bytes = bytes;
    this.fileKey = fileKey;
  }

  public Path path() {
    return placed.path();
  }

  PlacedFile placed() {
    return placed;
  }

  /** Whether both were the same file, unchanged, when they were looked at. */
  public boolean isAs(OutputFile other) {
    return placed.equals(other.placed)
        && bytes == other.bytes
        && Objects.equals(fileKey, other.fileKey);
  }

  /** Whether a file found on disk may be this one. */
  boolean mayBe(Object foundKey) {
    return fileKey == null || fileKey.equals(foundKey);
  }

  public long bytes() {
    return bytes;
  }

  @Override
  public String toString() {
    return path() + " (" + bytes + " bytes)";
  }
}
