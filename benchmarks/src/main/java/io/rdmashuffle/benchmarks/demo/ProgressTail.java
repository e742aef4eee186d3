package io.rdmashuffle.benchmarks.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Prints what an application writes to its stdout, as it comes. Has a thread of its own, which ends
 * at {@link #finish} or {@link #close}.
 */
final class ProgressTail implements AutoCloseable {
  private static final long PERIOD_MS = 200;

  private final Path file;
  private final CountDownLatch stop = new CountDownLatch(1);
  private final Thread thread;

  ProgressTail(Path file) {
    this.file = file;
    this.thread = new Thread(this::run, "demo-progress");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      boolean more = true;
      while (more) {
        more = !stop.await(PERIOD_MS, TimeUnit.MILLISECONDS);
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
          System.out.println("   " + line);
        }
      }
    } catch (IOException e) {
      System.out.println("   (cannot show progress: " + e + ")");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Prints the rest and returns. */
  void finish() throws InterruptedException {
    stop.countDown();
    thread.join(TimeUnit.SECONDS.toMillis(5));
  }

  @Override
  public void close() {
    stop.countDown();
  }
}
