package io.rdmashuffle.transport.server;

import java.nio.file.Path;

/**
 * One map-output file. Identity counts, not the path: a file replaced under the same name is
 * another {@code OutputFile}. Immutable, any thread.
 */
public final class OutputFile {
  private final Path path;
  private final long bytes;

  /**
   * @param bytes length as the index says
   */
  public OutputFile(Path path, long bytes) {
    this.path = path;
    this.bytes = bytes;
  }

  public Path path() {
    return path;
  }

  public long bytes() {
    return bytes;
  }

  @Override
  public String toString() {
    return path + " (" + bytes + " bytes)";
  }
}
