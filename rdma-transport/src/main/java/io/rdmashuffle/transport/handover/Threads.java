package io.rdmashuffle.transport.handover;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The only place that starts threads: daemons, each named, each with a handler that logs what ends
 * it, none with the class loader of the task that happened to be first. They are made at opening
 * and live until closing: later there may be none to be had.
 *
 * <p><b>Threads:</b> any.
 */
public final class Threads {
  private static final Logger LOG = LoggerFactory.getLogger(Threads.class);

  private final String suffix;
  private final Gate gate;
  private final List<Thread> started = new CopyOnWriteArrayList<>();

  /**
   * @param process name of the process, for the names of threads
   */
  public Threads(String process, Gate gate) {
    this.suffix = "-" + process;
    this.gate = gate;
  }

  /** For a process whose name is not known yet. */
  public Threads(Gate gate) {
    this.suffix = "";
    this.gate = gate;
  }

  /**
   * Starts a thread.
   *
   * @throws TransportException if the system gives no thread; nothing is left of it then
   */
  public synchronized Thread start(String role, Runnable body) throws TransportException { // rare
    String name = "rdma-shuffle-" + role + suffix;
    try {
      Thread thread = gate.newThread(body, name);
      thread.setDaemon(true);
      thread.setContextClassLoader(Threads.class.getClassLoader());
      thread.setUncaughtExceptionHandler(
          (t, thrown) -> LOG.error("{} ended by what it threw", t.getName(), thrown));
      started.removeIf(ended -> !ended.isAlive());
      started.add(thread); // may fail as well, and so comes first
      thread.start();
      return thread;
    } catch (OutOfMemoryError e) { // what the JVM throws when the system gives it no thread
      throw new TransportException(Kind.RETRY, "the system gives no thread for " + name, e);
    }
  }

  /**
   * Waits for its end, whatever interrupts; an interrupt is kept for the caller. Returns at once on
   * the thread itself.
   *
   * @return whether it has ended
   */
  public static boolean join(Thread thread, long timeoutNs) {
    if (thread == Thread.currentThread()) {
      return true;
    }
    return Uninterrupted.await(
        ns -> {
          thread.join(1 + TimeUnit.NANOSECONDS.toMillis(ns)); // 0 would be for ever
          return !thread.isAlive();
        },
        timeoutNs);
  }

  /** For queues that belong to a thread of these. */
  public Gate gate() {
    return gate;
  }

  /** How many of them live. */
  public int alive() {
    return (int) started.stream().filter(Thread::isAlive).count();
  }
}
