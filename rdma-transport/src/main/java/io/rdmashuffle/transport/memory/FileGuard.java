package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.HeldFile;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.Objects;

/**
 * What a file in a directory of somebody else's was when it was looked at and found right. Whatever
 * its path leads to later is that file still, or is not used. Immutable, any thread.
 *
 * @param key device and inode, as {@link java.nio.file.attribute.BasicFileAttributes#fileKey}
 * @param ownerId the number of the user it belongs to
 */
public record FileGuard(Object key, int ownerId) {
  private static final String ATTRIBUTES = "unix:isRegularFile,fileKey,uid";

  /**
   * Of the file that is held now.
   *
   * @throws TransportException of kind CONFIG if it is no plain file
   */
  public static FileGuard of(HeldFile file) throws IOException {
    Map<String, Object> found = Files.readAttributes(file.path(), ATTRIBUTES);
    if (!Objects.equals(found.get("isRegularFile"), true)) {
      throw new TransportException(Kind.CONFIG, "this is no plain file");
    }
    return new FileGuard(found.get("fileKey"), (Integer) found.get("uid"));
  }

  void requireIs(HeldFile file) throws IOException {
    FileGuard found = of(file);
    if (!found.equals(this)) {
      throw new TransportException(Kind.CONFIG, "it was " + this + ", is " + found);
    }
  }
}
