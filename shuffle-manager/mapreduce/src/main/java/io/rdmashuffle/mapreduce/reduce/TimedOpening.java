package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Opens a transport on a thread of its own: an adapter that hangs must not hang the task. What is
 * opened too late is closed again. One use.
 */
final class TimedOpening {
  private final Opening opening;
  private final CompletableFuture<OpenedReader> opened = new CompletableFuture<>();

  /** What may take long. */
  interface Opening {
    OpenedReader open() throws TransportException;
  }

  TimedOpening(Opening opening) {
    this.opening = opening;
  }

  /**
   * @throws TransportException as the opening did, or if it takes longer
   * @throws InterruptedException if the task is to end
   */
  OpenedReader await(Duration timeout) throws TransportException, InterruptedException {
    Thread thread = new Thread(this::run, "rdma-shuffle-open");
    thread.setDaemon(true);
    thread.setContextClassLoader(TimedOpening.class.getClassLoader());
    thread.start();
    try {
      return opened.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      if (opened.completeExceptionally(e)) {
        String text = "the RDMA device is not open after " + timeout.toMillis() + " ms";
        throw new TransportException(Kind.CONFIG, text, e);
      }
      return opened.join(); // in the last moment
    } catch (InterruptedException e) {
      if (!opened.completeExceptionally(e) && !opened.isCompletedExceptionally()) {
        opened.join().close();
      }
      throw e;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TransportException cause) {
        throw cause;
      }
      throw new TransportException(Kind.CONFIG, "opening it: " + e.getCause(), e.getCause());
    }
  }

  private void run() {
    try {
      OpenedReader reader = opening.open();
      if (!opened.complete(reader)) {
        reader.close();
      }
    } catch (TransportException | RuntimeException | LinkageError e) {
      opened.completeExceptionally(e);
    }
  }
}
