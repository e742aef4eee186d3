package io.rdmashuffle.transport.channel.testing;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.handover.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A progress loop without a thread: tasks and timers run when the test says so, on its thread, at
 * the time it sets. Unlike the real loop it lets what a task throws reach the test.
 *
 * <p><b>Threads:</b> {@link #offer} and {@link #execute} any; the rest belongs to the thread that
 * made it, which counts as the progress thread.
 */
public final class ManualLoop implements ProgressLoop {
  private final Thread thread = Thread.currentThread();
  private final ConcurrentLinkedQueue<Work> tasks = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Scheduled> timers = new PriorityQueue<>();
  private volatile long nowNs = 1_000_000_000L;
  private final List<Recovery> recoveries = new ArrayList<>();
  private long scheduled;
  private volatile boolean full;
  private volatile boolean stopped;
  private Error timerError;
  private List<Throwable> failures;

  /** Runs tasks until none is left, those included that tasks add. Returns how many it ran. */
  public int runAll() {
    int ran = 0;
    for (Work work = tasks.poll(); work != null; work = tasks.poll()) {
      rethrow(work.perform());
      ran++;
    }
    return ran;
  }

  /** Moves time on, stopping at every timer on the way, and runs all tasks that come of it. */
  public void advance(Duration time) {
    long endNs = nowNs + time.toNanos();
    runAll();
    while (!timers.isEmpty() && timers.peek().atNs <= endNs) {
      Scheduled next = timers.poll();
      nowNs = Math.max(nowNs, next.atNs);
      next.task.run();
      runAll();
    }
    nowNs = endNs;
  }

  /**
   * Runs tasks until the condition holds, for work that other threads hand over.
   *
   * @throws AssertionError if it does not hold within ten seconds of real time
   */
  public void runUntil(BooleanSupplier condition) {
    NanoClock real = NanoClock.system();
    long deadlineNs = real.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!condition.getAsBoolean()) {
      if (runAll() == 0) {
        Thread.onSpinWait();
      }
      if (real.nanoTime() > deadlineNs) {
        throw new AssertionError("condition does not hold after 10 s");
      }
    }
  }

  /** From now on {@link #offer} refuses. */
  public void refuseOffers() {
    full = true;
  }

  /** Undoes {@link #refuseOffers}. */
  public void admitOffers() {
    full = false;
  }

  /** From now on tasks are refused or dropped, as after the real loop's end. */
  public void stop() {
    stopped = true;
    tasks.clear();
    timers.clear();
  }

  /** This loop's time, for what takes a clock. */
  public NanoClock clock() {
    return () -> nowNs;
  }

  /** Tasks not yet run. */
  public int pendingTasks() {
    return tasks.size();
  }

  /** Timers neither run nor cancelled. */
  public int pendingTimers() {
    return timers.size();
  }

  @Override
  public boolean offer(Work work) {
    return !full && !stopped && tasks.offer(work);
  }

  @Override
  public void execute(Work work) {
    if (stopped) {
      work.abandon(new RejectedExecutionException("stopped"));
    } else {
      tasks.add(work);
    }
  }

  @Override
  public void execute(Runnable task) {
    execute(Work.of(task));
  }

  /** Whoever says that something is lost fails the test, unless {@link #keepFailures}. */
  @Override
  public void fail(Throwable cause) {
    if (failures == null) {
      rethrow(cause);
    } else {
      failures.add(cause);
    }
  }

  /** From now on what {@link #fail} is told is in the list returned. */
  public List<Throwable> keepFailures() {
    failures = new ArrayList<>();
    return failures;
  }

  /** From now on {@link #schedule} throws it; null ends that. */
  public void breakTimers(Error error) {
    timerError = error;
  }

  /** The recoveries run at once. */
  public void recover(Throwable cause) {
    for (int i = recoveries.size() - 1; i >= 0; i--) {
      recoveries.get(i).recover(cause);
    }
  }

  @Override
  public void addRecovery(Recovery recovery) {
    recoveries.add(recovery);
  }

  private static void rethrow(Throwable thrown) {
    if (thrown instanceof Error e) {
      throw e;
    }
    if (thrown instanceof RuntimeException e) {
      throw e;
    }
    if (thrown != null) {
      throw new AssertionError(thrown);
    }
  }

  @Override
  public Timer schedule(long delayNs, Runnable task) {
    checkThread();
    if (timerError != null) {
      throw timerError;
    }
    Scheduled timer = new Scheduled(nowNs + Math.max(0, delayNs), scheduled++, task);
    timers.add(timer);
    return () -> timers.remove(timer);
  }

  @Override
  public long nowNs() {
    return nowNs;
  }

  @Override
  public boolean inLoop() {
    return Thread.currentThread() == thread;
  }

  private void checkThread() {
    if (!inLoop()) {
      throw new IllegalStateException("not the loop's thread: " + Thread.currentThread());
    }
  }

  /** Ordered by time, then by the order of scheduling. */
  private static final class Scheduled implements Comparable<Scheduled> {
    private final long atNs;
    private final long order;
    private final Runnable task;

    Scheduled(long atNs, long order, Runnable task) {
      this.atNs = atNs;
      this.order = order;
      this.task = task;
    }

    @Override
    public int compareTo(Scheduled other) {
      int byTime = Long.compare(atNs, other.atNs);
      return byTime != 0 ? byTime : Long.compare(order, other.order);
    }
  }
}
