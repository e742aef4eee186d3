package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.memory.FileWindow;
import io.rdmashuffle.transport.memory.WindowSupport;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registers and deregisters windows on the slow pool, and remembers what was refused: a whole place
 * if its mappings cannot be registered, a single file for any other lasting reason, all
 * registrations for a while if memory is short.
 *
 * <p><b>Threads:</b> progress thread only, jobs apart.
 */
final class WindowRegistrar {
  private static final Logger LOG = LoggerFactory.getLogger(WindowRegistrar.class);
  private final ServerParts parts;
  private final ProtectionDomain domain;
  private final SlowLanes.Lane housekeeping;
  private final Set<Path> reportedPlaces = new HashSet<>();

  WindowRegistrar(ServerParts parts, ProtectionDomain domain) {
    this.parts = parts;
    this.domain = domain;
    this.housekeeping = parts.lanes().newLane(Integer.MAX_VALUE);
  }

  /**
   * Why a window was not registered.
   *
   * @param reason why its blocks cannot come by RDMA at all, null if they may be copied
   */
  record Refusal(FallbackReason reason, Throwable cause) {
    static Refusal of(Throwable cause) {
      if (cause instanceof NotServedException e) {
        return new Refusal(e.reason(), cause);
      }
      boolean stopping = cause instanceof RejectedExecutionException;
      return new Refusal(stopping ? FallbackReason.STOPPING : null, cause);
    }
  }

  boolean canRegister(FileEntry entry) {
    return !parts.windowRoom().backoff().isPaused()
        && !entry.isCopyOnly()
        && !isRefused(entry.place());
  }

  private boolean isRefused(Path place) {
    return parts.fileWindows().support(place).stream()
        .anyMatch(support -> support.mode() == WindowSupport.Mode.NONE);
  }

  /** Also while nobody knows yet. */
  private boolean mayMapForWriting(Path place) {
    return parts.fileWindows().support(place).stream()
        .noneMatch(support -> support.mode() == WindowSupport.Mode.READ_ONLY);
  }

  /**
   * Closes the victims, then registers: their memory is this window's before others can take it.
   *
   * @param victims filled in before this is submitted
   * @param whenSettled hears why not, null if the window is READY
   */
  SlowLanes.Turn registration(
      Window window, List<Window> victims, Consumer<Throwable> whenSettled) {
    return parts.lanes().turn(new Registration(window, victims, whenSettled));
  }

  private final class Registration implements SlowLanes.Job {
    private final Window window;
    private final List<Window> victims;
    private final Consumer<Throwable> whenSettled;
    private FileWindow registered;

    Registration(Window window, List<Window> victims, Consumer<Throwable> whenSettled) {
      this.window = window;
      this.victims = victims;
      this.whenSettled = whenSettled;
    }

    @Override
    public void run() throws Exception {
      closeNow(victims);
      FileEntry entry = window.entry();
      entry.confirm();
      if (mayMapForWriting(entry.place())) {
        entry.expectOwnWrites();
      }
      FileWindow opened =
          parts
              .fileWindows()
              .open(domain, entry.file().placed(), window.fromBytes(), window.bytes());
      try {
        entry.confirm(); // the path may have changed hands before it was mapped
      } catch (NotServedException | RuntimeException | Error e) {
        opened.close();
        throw e;
      }
      registered = opened;
    }

    @Override
    public void onDone(Throwable failure) {
      if (failure == null) {
        window.becomeReady(registered); // first: nobody else knows of the region
      }
      try {
        endBusy(victims);
        parts
            .counters()
            .increment(failure == null ? Counter.REGISTRATIONS : Counter.REGISTRATIONS_FAILED);
      } finally {
        whenSettled.accept(failure);
      }
    }
  }

  /**
   * Draws the conclusion for later registrations. The window is not counted as held any more.
   *
   * @return why its blocks cannot come by RDMA at all, null if they may be copied
   */
  FallbackReason onRefused(Window window, Throwable failure) {
    Refusal refusal = Refusal.of(failure);
    conclude(window, refusal);
    return refusal.reason();
  }

  private void conclude(Window window, Refusal refusal) {
    OutputFile file = window.entry().file();
    Path place = window.entry().place();
    Throwable cause = refusal.cause();
    if (refusal.reason() != null) {
      parts.reports().fileFailed(file, refusal.reason(), cause);
    } else if (cause instanceof TransportException e && e.kind() == Kind.RETRY) {
      onNoMemory(e);
    } else if (!isRefused(place)) {
      window.entry().makeCopyOnly();
      parts
          .reports()
          .limited(
              "copied",
              more ->
                  LOG.warn(
                      "{} cannot be registered, its blocks are copied: {}{}", file, cause, more));
    } else if (reportedPlaces.add(place)) {
      LOG.warn("Blocks of files in {} are copied: {}", place, cause.toString());
    }
  }

  /** The budget's refusal means only that somebody else was faster; the kernel's lasts. */
  private void onNoMemory(TransportException cause) {
    if (!(cause instanceof VerbsException)) {
      LOG.debug("A window was not registered: {}", cause.toString());
      return;
    }
    if (!parts.windowRoom().backoff().isPaused()) {
      parts
          .reports()
          .limited(
              "no memory",
              more ->
                  LOG.warn(
                      "Copying blocks instead of registering files for a while: {}{}",
                      cause.toString(),
                      more));
    }
    parts.windowRoom().onNoMemory();
  }

  /** Deregisters and unmaps, later. If it throws, nothing has happened. */
  void close(Window window) {
    close(1, windows -> windows.add(window), () -> {}, () -> {});
  }

  /**
   * The same of several, followed at once by what needs their room.
   *
   * @param count of windows
   * @param choice adds them to a list that has room for them, once nothing can fail any more
   * @param next runs on the slow pool
   * @param whenDone runs after that
   */
  void close(int count, Consumer<List<Window>> choice, Runnable next, Runnable whenDone) {
    List<Window> windows = new ArrayList<>(count);
    SlowLanes.Turn closing = parts.lanes().turn(new Closing(windows, next, whenDone));
    choice.accept(windows);
    housekeeping.submit(closing);
  }

  private record Closing(List<Window> windows, Runnable next, Runnable whenDone)
      implements SlowLanes.Job {
    @Override
    public void run() {
      closeNow(windows);
      next.run();
    }

    @Override
    public void onDone(Throwable failure) {
      try {
        endBusy(windows);
      } finally {
        whenDone.run();
      }
      if (failure != null) {
        LOG.error("Closing {} failed", windows, failure);
      }
    }
  }

  private static void endBusy(List<Window> closed) {
    for (int i = 0; i < closed.size(); i++) {
      closed.get(i).entry().endBusy();
    }
    for (int i = 0; i < closed.size(); i++) {
      closed.get(i).entry().runIfQuiet(); // may fail: by then all are counted
    }
  }

  /** One that fails must not keep the others from being closed. */
  private static void closeNow(List<Window> windows) {
    Window failed = null;
    Throwable failure = null;
    for (int i = 0; i < windows.size(); i++) {
      try {
        windows.get(i).memory().close();
      } catch (RuntimeException | Error e) {
        failed = windows.get(i);
        failure = e;
      }
    }
    if (failure != null) {
      LOG.error("Closing {} failed", failed, failure);
    }
  }
}
