package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.Objects;

/**
 * What tells a file from another one that took its name: inode, length and time of the last write.
 * Immutable, any thread.
 *
 * @param key device and inode, null where the file system has none
 */
record FileIdentity(Object key, long bytes, FileTime modified) {
  /** Whether it is the same file of the same length, whenever it was last written. */
  boolean isSameFile(FileIdentity other) {
    return Objects.equals(key, other.key) && bytes == other.bytes;
  }

  /**
   * Looks at the file on disk. Slow pool.
   *
   * @param path that leads to it
   * @throws NotServedException if it is gone, no plain file, or shorter than its index says
   */
  static FileIdentity of(OutputFile file, Path path) throws NotServedException {
    BasicFileAttributes found;
    try {
      found = Files.readAttributes(path, BasicFileAttributes.class);
    } catch (IOException e) {
      throw new NotServedException(FallbackReason.FILE_CHANGED, "stat of " + file + " failed", e);
    }
    if (!found.isRegularFile() || found.size() < file.bytes()) {
      throw new NotServedException(
          FallbackReason.FILE_CHANGED,
          file + " has " + found.size() + " bytes on disk, or is no plain file",
          null);
    }
    return new FileIdentity(found.fileKey(), found.size(), found.lastModifiedTime());
  }
}
