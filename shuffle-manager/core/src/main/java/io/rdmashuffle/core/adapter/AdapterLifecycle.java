package io.rdmashuffle.core.adapter;

import io.rdmashuffle.core.adapter.AdapterRules.Pauses;
import io.rdmashuffle.core.adapter.AdapterState.Absent;
import io.rdmashuffle.core.adapter.AdapterState.Open;
import io.rdmashuffle.core.adapter.AdapterState.Outlook;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Threads;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The adapter of one process, from the first request for it to the end of the process: opens it,
 * notices its loss, closes it, and opens it again where the {@linkplain AdapterRules rules} say so.
 * All of that happens on one thread, which is started at the beginning and lives as long as there
 * is anything to do.
 *
 * <p><b>Threads:</b> any. {@link #open} and {@link #close} wait, each with one deadline.
 *
 * <p><b>Errors:</b> none reaches the caller, whatever is thrown where. Opening that failed for lack
 * of a thread or of memory is tried again after a pause; a failure of another kind is final unless
 * the rules say otherwise. Each decision is one line in the log.
 *
 * @param <T> what the process does with the adapter
 */
public final class AdapterLifecycle<T extends Transport> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AdapterLifecycle.class);
  private static final long END = -1;

  private final AdapterRules rules;
  private final Opener<T> opener;
  private final NanoClock clock;
  private final Threads threads;
  private final Absences<T> absences;
  private final AtomicReference<AdapterState<T>> state;
  private final FirstAttempt first = new FirstAttempt();
  private volatile boolean running; // the thread: from before its start to its end
  private volatile Thread thread; // null before it begins, and after its end
  private volatile boolean closing;
  private volatile T last; // null before it was open
  private final Retries retries; // the thread's; while there is none, guarded by this

  /** Finds an adapter, loads its libraries, and starts a transport on it. */
  @FunctionalInterface
  public interface Opener<T extends Transport> {
    /**
     * On the life cycle's thread; may block. If it throws, nothing is left open.
     *
     * @throws TransportException if no adapter is usable; the message says why and what to do
     */
    T open() throws TransportException;

    /** The transport is in use from now on. On the same thread. */
    default void onOpen(T transport) {}
  }

  /** What callers wait for. Any thread. */
  private static final class FirstAttempt {
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile long deadlineNs;

    void begin(long until) {
      deadlineNs = until;
    }

    void end() {
      ended.countDown();
    }

    boolean await(long nowNs) throws InterruptedException {
      return ended.await(deadlineNs - nowNs, TimeUnit.NANOSECONDS);
    }
  }

  /** Made in advance: when they are needed there may be no memory. */
  private record Absences<T extends Transport>(
      Absent<T> unused, Absent<T> opening, Absent<T> slow, Absent<T> ended, Absent<T> closed) {
    static <T extends Transport> Absences<T> of(AdapterRules rules) {
      String slow = "the adapter is not open after " + rules.openTimeout().toSeconds() + " s";
      return new Absences<>(
          new Absent<>("it was not needed yet", Outlook.NOT_YET),
          new Absent<>("the adapter is being opened", Outlook.NOT_YET),
          new Absent<>(slow, Outlook.NOT_YET),
          new Absent<>("threads or memory are short", Outlook.NOT_YET),
          new Absent<>("this process is stopping", Outlook.NEVER));
    }
  }

  public AdapterLifecycle(AdapterRules rules, Opener<T> opener) {
    this(rules, opener, NanoClock.system(), Gate.OPEN);
  }

  /**
   * @param gate where its thread comes from
   */
  AdapterLifecycle(AdapterRules rules, Opener<T> opener, NanoClock clock, Gate gate) {
    this.rules = rules;
    this.opener = opener;
    this.clock = clock;
    this.threads = new Threads(gate);
    this.retries = new Retries(clock.nanoTime());
    this.absences = Absences.of(rules);
    this.state = new AtomicReference<>(absences.unused());
  }

  /** The state now; never waits and never opens anything. */
  public AdapterState<T> state() {
    return closing ? absences.closed() : state.get();
  }

  /** Whether nobody has asked for the adapter yet. */
  public boolean isUnused() {
    return state.get() == absences.unused();
  }

  /** The transport that is open, or else the one that was open last: its counters stay. */
  public Optional<T> last() {
    return Optional.ofNullable(last);
  }

  /** Begins to open, unless that is done or under way. Does not wait. */
  public void begin() {
    if (!running && state() instanceof Absent<T> a && a.outlook() == Outlook.NOT_YET) {
      start();
    }
  }

  /**
   * As {@link #begin}, then waits until the first attempt has ended, but not beyond the time that
   * the rules give it.
   *
   * @throws InterruptedException if the caller is to end
   */
  public AdapterState<T> open() throws InterruptedException {
    begin();
    try {
      if (running && !first.await(clock.nanoTime())) {
        onSlow();
      }
    } catch (OutOfMemoryError e) { // the heap is full: not even waiting is possible
      LOG.debug("not waiting for RDMA", e);
    }
    return state();
  }

  private void onSlow() {
    if (state.compareAndSet(absences.opening(), absences.slow())) {
      log(absences.slow());
    }
  }

  private synchronized void start() { // rare, and must start one thread only
    if (running || closing || retries.isPausing(clock.nanoTime())) {
      return;
    }
    state.compareAndSet(absences.unused(), absences.opening());
    first.begin(clock.nanoTime() + rules.openTimeout().toNanos());
    running = true; // before it can end
    try {
      threads.start("adapter", this::live);
    } catch (Throwable e) { // TransportException above all; the caller goes on without RDMA
      retries.failed(rules.shortages(), clock.nanoTime());
      running = false;
      notStarted(e);
    }
  }

  private void notStarted(Throwable why) {
    try {
      absent("no thread for it: " + text(why), Outlook.NOT_YET);
    } catch (Throwable e) { // the heap is full
      state.set(absences.ended());
    }
  }

  private void absent(String why, Outlook outlook) {
    Absent<T> now = new Absent<>(why, outlook);
    if (!now.equals(state.getAndSet(now))) { // the same again is no news
      log(now);
    }
  }

  private void log(Absent<T> absent) {
    LOG.warn(
        "no RDMA in {}{}, {}: {}",
        rules.process(),
        absent.outlook() == Outlook.NEVER || rules.shortages().areNone() ? "" : " for now",
        rules.otherwise(),
        absent.why());
  }

  /** As {@link #close}, without waiting. */
  public void abandon() {
    closing = true;
    wake();
  }

  /**
   * Idempotent. Closes the transport; also one that is just being opened, once it is. What takes
   * longer than the rules allow goes on in the background and is logged.
   */
  @Override
  public void close() {
    abandon();
    Thread ending = thread; // one that has not begun ends by itself
    try {
      if (ending != null && !ends(ending)) {
        LOG.warn("RDMA in {} is still closing after {}", rules.process(), rules.closeTimeout());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean ends(Thread ending) throws InterruptedException {
    ending.join(rules.closeTimeout().toMillis());
    return !ending.isAlive();
  }

  /** The thread looks again at what has changed, time included. */
  void wake() {
    LockSupport.unpark(thread);
  }

  // ---- on its own thread

  private void live() {
    thread = Thread.currentThread();
    AdapterState<T> left = absences.ended();
    try {
      long pauseNs = 0;
      while (pauseNs != END && pauseFor(pauseNs)) {
        pauseNs = openAndServe();
      }
      left = state.get();
    } finally { // not even that it failed could be told: the next request starts again
      if (left == absences.ended()) {
        retries.failed(rules.shortages(), clock.nanoTime());
      }
      state.set(left);
      first.end();
      thread = null;
      running = false;
    }
  }

  /** Returns false as soon as this is closed. */
  private boolean pauseFor(long pauseNs) {
    long untilNs = clock.nanoTime() + pauseNs;
    for (long left = pauseNs; left > 0 && !closing; left = untilNs - clock.nanoTime()) {
      park(left);
    }
    return !closing;
  }

  private void park(long ns) {
    LockSupport.parkNanos(this, ns);
    if (Thread.interrupted()) {
      LOG.debug("ignoring an interrupt; the thread ends when it is closed");
    }
  }

  /** Returns how long to wait before the next attempt, or {@link #END}. */
  private long openAndServe() {
    T transport;
    try {
      transport = opener.open();
    } catch (Throwable e) { // whatever it is, the host goes on
      return failed(e);
    }
    try {
      return serve(transport);
    } catch (Throwable e) {
      return failed(e);
    } finally {
      close(transport);
    }
  }

  private long failed(Throwable e) {
    LOG.debug("why there is no RDMA in {}", rules.process(), e);
    return without(text(e), isShortage(e) ? rules.shortages() : rules.absences());
  }

  private static String text(Throwable e) {
    return e instanceof TransportException ? e.getMessage() : e.toString();
  }

  private static boolean isShortage(Throwable e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof OutOfMemoryError
          || (cause instanceof TransportException t && t.kind() == Kind.RETRY)) {
        return true;
      }
    }
    return false;
  }

  private long without(String why, Pauses pauses) {
    absent(why, pauses.areNone() ? Outlook.NEVER : Outlook.NOT_YET);
    first.end();
    return pauses.areNone() ? END : retries.failed(pauses, clock.nanoTime());
  }

  /** As {@link #openAndServe}; until the adapter is lost, or this is closed. */
  private long serve(T transport) {
    AtomicReference<String> loss = new AtomicReference<>();
    long openedNs = clock.nanoTime();
    transport
        .lost()
        .thenAccept(
            why -> {
              loss.set(why);
              wake();
            });
    last = transport;
    state.set(new Open<>(transport));
    first.end();
    opener.onOpen(transport);
    while (loss.get() == null && !closing) {
      park(Long.MAX_VALUE);
    }
    if (closing) {
      return END;
    }
    if (clock.nanoTime() - openedNs > rules.absences().longest().toNanos()) {
      retries.reset();
    }
    return without(loss.get(), rules.absences());
  }

  private void close(T transport) {
    try {
      transport.close();
    } catch (Throwable e) { // it says itself what it could not close
      LOG.warn("RDMA in {} could not be closed: {}", rules.process(), e.toString(), e);
    }
  }
}
