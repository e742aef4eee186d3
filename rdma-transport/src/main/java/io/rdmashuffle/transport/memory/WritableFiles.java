package io.rdmashuffle.transport.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;

/**
 * Says whether a file may be opened for writing: only if it belongs to this process's own user. The
 * right to write somebody else's file, as root has it, is no reason to use it.
 */
final class WritableFiles implements Predicate<Path> {
  private static final String UID = "unix:uid";
  private static final Path OWN_PROCESS = Path.of("/proc/self/status");

  /** False also if it cannot be told. */
  @Override
  public boolean test(Path file) {
    try {
      Object own = Files.getAttribute(OWN_PROCESS, UID);
      return own.equals(Files.getAttribute(file, UID)) && Files.isWritable(file);
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return false;
    }
  }
}
