package io.rdmashuffle.transport.memory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * What the owner of a directory can do to whoever opens files in it: a thread puts a link to
 * another directory, with a file of the same name, in the place of one, and the directory back, all
 * the time.
 */
final class SwappedFolder implements AutoCloseable {
  /** The bytes of the file that is asked for, and of the one that must never be seen. */
  static final byte RIGHT = 1;

  static final byte WRONG = 2;
  private static final int FILE_BYTES = 8192;

  final Path root;
  final Path file;
  private final Path folder;
  private final Path aside;
  private final Path link;
  private final Thread swapper;
  private volatile boolean stopped;
  private volatile Throwable failure;

  SwappedFolder(Path directory) throws IOException {
    root = Files.createDirectory(directory.resolve("root"));
    folder = Files.createDirectory(root.resolve("folder"));
    aside = root.resolve("aside");
    link = root.resolve("link");
    file = write(folder, RIGHT);
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    write(elsewhere, WRONG);
    Files.createSymbolicLink(link, elsewhere);
    swapper = new Thread(this::swap, "swapper");
  }

  private static Path write(Path folder, byte content) throws IOException {
    byte[] bytes = new byte[FILE_BYTES];
    Arrays.fill(bytes, content);
    return Files.write(folder.resolve("file"), bytes);
  }

  void start() {
    swapper.start();
  }

  private void swap() {
    try {
      while (!stopped) {
        Files.move(folder, aside);
        Files.move(link, folder);
        Files.move(folder, link);
        Files.move(aside, folder);
      }
    } catch (IOException e) {
      failure = e;
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    stopped = true;
    try {
      swapper.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while the swapper ends", e);
    }
    if (failure != null) {
      throw new AssertionError("it stopped swapping", failure);
    }
  }
}
