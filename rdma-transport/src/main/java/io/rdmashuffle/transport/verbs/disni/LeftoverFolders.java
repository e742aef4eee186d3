package io.rdmashuffle.transport.verbs.disni;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folders of {@link UnpackedLibraries} whose processes were killed while they loaded. They are told
 * by their age: a temporary directory may be shared by containers, whose process ids say nothing
 * here, and loading takes no minutes.
 */
final class LeftoverFolders {
  static final String PREFIX = "rdmashuffle-";
  private static final Logger LOG = LoggerFactory.getLogger(LeftoverFolders.class);
  private static final Duration LONGEST_LOAD = Duration.ofMinutes(10);

  private LeftoverFolders() {}

  /**
   * Deletes those beside a new folder, of the same user. What cannot be deleted stays.
   *
   * @param own tells the file system's time and the user
   */
  static void delete(Path own) {
    try (DirectoryStream<Path> all = Files.newDirectoryStream(own.getParent(), PREFIX + "*")) {
      PosixFileAttributes mine = attributes(own);
      Instant cutoff = mine.lastModifiedTime().toInstant().minus(LONGEST_LOAD);
      for (Path folder : all) {
        if (isLeftOver(folder, mine, cutoff)) {
          deleteFolder(folder);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOG.debug("could not look for folders like {} that were left behind", own, e);
    }
  }

  private static boolean isLeftOver(Path folder, PosixFileAttributes mine, Instant cutoff) {
    try {
      PosixFileAttributes its = attributes(folder);
      return its.isDirectory()
          && its.owner().equals(mine.owner())
          && its.lastModifiedTime().toInstant().isBefore(cutoff);
    } catch (IOException e) {
      return false; // its process deletes it just now
    }
  }

  private static PosixFileAttributes attributes(Path folder) throws IOException {
    return Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  private static void deleteFolder(Path folder) {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "lib*.so")) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      LOG.debug("could not delete {}, which another process left behind", folder, e);
    }
  }
}
