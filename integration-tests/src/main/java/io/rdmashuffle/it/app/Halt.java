package io.rdmashuffle.it.app;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * A place in a round where tasks wait in the middle of what they read, so that a test can do
 * something to executors meanwhile. Tasks and test meet by files beside the application's result.
 * Any thread.
 */
public final class Halt implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final String prefix;

  /**
   * @param resultFile the application's
   */
  public Halt(Path resultFile, int round) {
    this.prefix = resultFile + ".halt-" + round + "-";
  }

  /** For tasks: tells that one waits, and returns once {@link #release} was called. */
  void await(int partition) throws IOException {
    try {
      Files.createFile(Path.of(prefix + partition));
    } catch (FileAlreadyExistsException e) {
      // another attempt has been here
    }
    long deadlineNs = System.nanoTime() + LIMIT_NS;
    while (!Files.exists(released())) {
      if (System.nanoTime() - deadlineNs > 0) {
        throw new IOException("no " + released() + " in time");
      }
      LockSupport.parkNanos(POLL_NS);
    }
  }

  /** How many tasks have come here. */
  public int reached() throws IOException {
    Path base = Path.of(prefix);
    try (Stream<Path> files = Files.list(base.getParent())) {
      String name = base.getFileName().toString();
      return (int) files.filter(file -> file.getFileName().toString().startsWith(name)).count();
    }
  }

  /** Lets tasks go on, those that come later included. */
  public void release() throws IOException {
    Files.createFile(released());
  }

  private Path released() {
    return Path.of(prefix + "over");
  }
}
