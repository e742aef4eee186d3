package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.spark.catalog.MapOutput;
import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.server.OutputFile;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA in one process: opens the transport when the first task shuffles, says once in the log which
 * device it uses or why none, and closes it.
 *
 * <p><b>Threads:</b> any. Only {@link #open} and {@link #close} wait, both with a deadline.
 *
 * <p><b>Life:</b> not yet opened, then open or absent, then closed. A process that found no device,
 * or lost it, does not look again.
 */
public final class ShuffleRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleRuntime.class);

  /** Opening takes well under a second; an adapter that hangs must not hang tasks. */
  private static final long OPEN_TIMEOUT_MS = 30_000;

  private static final long CLOSE_TIMEOUT_MS = 5_000;

  private static final Availability.Absent NOT_YET =
      new Availability.Absent(FallbackReason.PEER_WITHOUT_RDMA, "no task has shuffled here yet");
  private static final Availability.Absent STILL_OPENING =
      new Availability.Absent(
          FallbackReason.NO_DEVICE,
          "the device is still not open after " + OPEN_TIMEOUT_MS / 1000 + " s");
  private static final Availability.Absent CLOSED =
      new Availability.Absent(FallbackReason.STOPPING, "this process is stopping");

  private final FallbackPolicy policy;
  private final TransportOpener opener;
  private final MapOutputCatalog catalog;
  private final EngineCounters engineCounters = new EngineCounters();
  private final AtomicBoolean begun = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final CompletableFuture<Availability> opening = new CompletableFuture<>();
  private volatile Availability.Absent lost; // null unless the adapter is gone

  public ShuffleRuntime(FallbackPolicy policy, MapOutputCatalog catalog, TransportOpener opener) {
    this.policy = policy;
    this.catalog = catalog;
    this.opener = opener;
  }

  /**
   * For the first writer or reader of a process: opens the transport unless it was tried before,
   * and waits for it.
   *
   * @throws RdmaRequiredException if there is no RDMA and the mode requires it
   */
  public Availability open() {
    if (!closed.get() && begun.compareAndSet(false, true)) {
      begin();
    }
    Availability state = closed.get() ? CLOSED : await();
    if (state instanceof Availability.Absent absent) {
      policy.accept(absent);
    }
    return state;
  }

  /** The state now; never waits and never opens anything. */
  public Availability state() {
    if (closed.get()) {
      return CLOSED;
    }
    Availability.Absent gone = lost;
    return gone != null ? gone : opening.getNow(NOT_YET);
  }

  /**
   * What to answer a peer that asks how to reach this process; never waits. A process that has not
   * shuffled yet, but received map outputs of others, begins to open the transport: the next
   * question finds it open.
   */
  public Invitation invitation() {
    Availability now = state();
    if (now instanceof Availability.Open open) {
      return open.transport().issueTicket();
    }
    if (!closed.get() && begun.compareAndSet(false, true)) {
      begin();
    }
    if (!closed.get() && !opening.isDone()) {
      return new Invitation.NotYet("its device is being opened");
    }
    now = state();
    if (now instanceof Availability.Open open) { // meanwhile
      return open.transport().issueTicket();
    }
    return new Invitation.None(
        FallbackReason.PEER_WITHOUT_RDMA, ((Availability.Absent) now).text());
  }

  /** A map output was committed. Remembered only where it can be served by RDMA. */
  public void register(int group, long output, MapOutput mapOutput) {
    if (state() instanceof Availability.Open open) {
      catalog
          .register(group, output, mapOutput)
          .ifPresent(earlier -> open.transport().forget(List.of(earlier)));
    }
  }

  /** A map output's files were deleted. */
  public void remove(int group, long output) {
    catalog.remove(group, output).ifPresent(file -> forget(List.of(file)));
  }

  /** The files of all map outputs of a group were deleted. */
  public void removeGroup(int group) {
    forget(catalog.removeGroup(group));
  }

  /** Map outputs that can be served by RDMA now. */
  public int outputs() {
    return catalog.outputs();
  }

  private void forget(Collection<OutputFile> files) {
    if (!files.isEmpty() && state() instanceof Availability.Open open) {
      open.transport().forget(files);
    }
  }

  /** What the engine's own shuffle delivered; written by the engine's adapter. */
  public EngineCounters engineCounters() {
    return engineCounters;
  }

  /** Of a lost adapter, the counters stay. */
  public RuntimeSnapshot snapshot() {
    return new Snapshots(state(), transport(), engineCounters, catalog).take();
  }

  private Optional<OpenedTransport> transport() {
    return !closed.get() && opening.getNow(NOT_YET) instanceof Availability.Open open
        ? Optional.of(open.transport())
        : Optional.empty();
  }

  /**
   * Idempotent. Closes the transport; also one that is just being opened, once it is. Waits five
   * seconds at most; what takes longer goes on in the background and is logged.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true) || !begun.get()) {
      return;
    }
    Thread closing = closeInBackground();
    try {
      closing.join(CLOSE_TIMEOUT_MS);
      if (closing.isAlive()) {
        LOG.warn("RDMA is still closing after {} ms", CLOSE_TIMEOUT_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private Thread closeInBackground() {
    Thread closing = new Thread(this::closeWhenOpened, "rdma-shuffle-close");
    closing.setDaemon(true);
    closing.start();
    return closing;
  }

  private void closeWhenOpened() {
    if (opening.join() instanceof Availability.Open open) {
      open.transport().close();
    }
  }

  private void begin() {
    Availability.Absent ruledOut = policy.ruledOut().orElse(null);
    if (ruledOut != null) {
      logRuledOut(ruledOut);
      opening.complete(ruledOut);
      return;
    }
    // On a thread of its own: killing the task that came first must not interrupt it.
    Thread thread = new Thread(this::openNow, "rdma-shuffle-open");
    thread.setDaemon(true);
    thread.setContextClassLoader(ShuffleRuntime.class.getClassLoader());
    thread.start();
  }

  private void logRuledOut(Availability.Absent ruledOut) {
    if (policy.mode() == Mode.OFF) {
      LOG.info("RDMA shuffle is switched off: {}", ruledOut.text());
    } else {
      LOG.warn("no RDMA in this process, the engine's own shuffle is used: {}", ruledOut.text());
    }
  }

  private void openNow() {
    Availability opened = tryOpen();
    opening.complete(opened);
    if (opened instanceof Availability.Open open) {
      open.transport().lost().thenAccept(this::lose);
    }
    if (closed.get()) { // before close could know that somebody opens
      closeWhenOpened();
    }
  }

  /** The adapter is gone; the transport has logged it. Its thread must not close it. */
  private void lose(String why) {
    lost = new Availability.Absent(FallbackReason.NO_DEVICE, why);
    closeInBackground();
  }

  private Availability tryOpen() {
    try {
      return new Availability.Open(opener.open()); // says itself which device it uses
    } catch (TransportException e) {
      LOG.warn("no RDMA in this process, the engine's own shuffle is used: {}", e.getMessage());
      return new Availability.Absent(FallbackReason.NO_DEVICE, e.getMessage());
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("no RDMA in this process, the engine's own shuffle is used: {}", e.toString(), e);
      return new Availability.Absent(FallbackReason.NO_DEVICE, e.toString());
    }
  }

  private Availability await() {
    try {
      opening.get(OPEN_TIMEOUT_MS, TimeUnit.MILLISECONDS);
      return state();
    } catch (TimeoutException e) {
      return STILL_OPENING;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Availability.Absent(FallbackReason.STOPPING, "interrupted while waiting for RDMA");
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // never completed exceptionally
    }
  }
}
