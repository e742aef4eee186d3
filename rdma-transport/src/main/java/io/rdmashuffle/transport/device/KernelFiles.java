package io.rdmashuffle.transport.device;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Reads the small files of sysfs and procfs. One that is missing or cannot be read counts as empty:
 * sysfs fails reads of attributes that have no value (EINVAL for an unused GID).
 */
final class KernelFiles {
  private KernelFiles() {}

  /** The content without surrounding white space, empty if there is none. */
  static String text(Path file) {
    try {
      return Files.readString(file).strip();
    } catch (IOException e) {
      return "";
    }
  }

  /** The last name of what a symbolic link leads to, empty if there is no link. */
  static String linkedName(Path link) {
    try {
      return Files.readSymbolicLink(link).getFileName().toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** What follows the colon of "4: ACTIVE". */
  static String label(Path file) {
    String text = text(file);
    return text.substring(text.indexOf(':') + 1).strip();
  }

  /**
   * A number in C notation, decimal or with 0x.
   *
   * @return the other value if the file holds none
   */
  static int number(Path file, int otherwise) {
    try {
      return Integer.decode(text(file));
    } catch (NumberFormatException e) {
      return otherwise;
    }
  }

  /** Names in a folder, shorter ones first, so that mlx5_2 comes before mlx5_10. */
  static List<String> names(Path folder) {
    List<String> names = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
      entries.forEach(entry -> names.add(entry.getFileName().toString()));
    } catch (IOException e) {
      return List.of();
    }
    names.sort(Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder()));
    return names;
  }
}
