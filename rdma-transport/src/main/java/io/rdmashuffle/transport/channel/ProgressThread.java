package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of a device that posts, polls and keeps time.
 *
 * <p>Each round runs the tasks that wait, dispatches the completions that are there, and runs the
 * timers that are due. A round without work is repeated for the time of the settings, if that has
 * paid lately ({@link Spin}), then the thread arms the completion queue, looks once more, and
 * sleeps until a completion, a task or a timer is due: an idle process costs no CPU.
 *
 * <p><b>No lost wake-up:</b> the thread says that it sleeps before it looks at the queue for the
 * last time; others put their task in before they ask whether it sleeps. One of both sees the
 * other.
 *
 * <p><b>Failure:</b> after what a task, a sink or the completion queue throws the recoveries run,
 * and the loop goes on. If the completion queue fails, every queue pair on it is lost: the handler
 * is told once, and tasks and timers go on without completions.
 */
final class ProgressThread implements ProgressLoop, Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(ProgressThread.class);
  private static final int TASKS_PER_ROUND = 256;
  private static final int ADMITTED_TASKS = 4096;
  private static final long LONGEST_SLEEP_NS = TimeUnit.HOURS.toNanos(1);
  private static final long SLEEP_WITHOUT_QUEUE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final NanoClock clock;
  private final Spin spin;
  private final LoopQueue tasks;
  private final TimerHeap timers = new TimerHeap();
  private final CompletionPump completions;
  private final Recoveries recoveries = new Recoveries();
  private final AtomicBoolean sleeping = new AtomicBoolean();
  private long nowNs;
  private volatile Thread thread;
  private volatile boolean stopping;

  /**
   * @param queue lent; closed by its maker after this has ended
   * @param spin how long to look before sleeping
   * @param gate what is handed over to this thread passes it
   * @param queueFailureHandler called on this thread if the queue is lost, once unless it throws
   */
  ProgressThread(
      CompletionQueue queue,
      NanoClock clock,
      Duration spin,
      Gate gate,
      Consumer<TransportException> queueFailureHandler) {
    this.clock = clock;
    this.spin = new Spin(spin.toNanos());
    this.tasks = new LoopQueue("progress", gate, this::fail);
    this.completions = new CompletionPump(queue, queueFailureHandler, this::fail);
    this.nowNs = clock.nanoTime();
  }

  CompletionTable completionTable() {
    return completions.table();
  }

  /** Runs rounds until {@link #stop}, then whatever was taken in before. */
  @Override
  public void run() {
    thread = Thread.currentThread();
    long idleSinceNs = clock.nanoTime();
    boolean looked = false;
    while (!stopping) {
      if (runOnce()) {
        idleSinceNs = nowNs;
        if (looked) {
          spin.paid();
        }
        looked = false;
      } else if (spin.looksOn(nowNs - idleSinceNs)) {
        looked = true;
        Thread.onSpinWait();
      } else {
        spin.missed();
        sleep();
        idleSinceNs = clock.nanoTime();
        looked = false;
      }
    }
    tasks.close();
    while (tasks.run(TASKS_PER_ROUND) > 0) {
      nowNs = clock.nanoTime();
    }
  }

  /** One round. Tests that step the loop call it on their own thread, which is then the loop's. */
  boolean runOnce() {
    if (thread == null) {
      thread = Thread.currentThread();
    }
    nowNs = clock.nanoTime();
    boolean recovered = recoveries.runIfDue(nowNs);
    int did = tasks.run(TASKS_PER_ROUND) + completions.pump() + runTimers();
    return did > 0 || recovered;
  }

  /** Ends {@link #run} soon. Any thread. */
  void stop() {
    stopping = true;
    wake();
  }

  @Override
  public boolean offer(Work work) {
    boolean admitted = tasks.offer(work, ADMITTED_TASKS);
    if (admitted) {
      wake();
    }
    return admitted;
  }

  @Override
  public void execute(Work work) {
    if (tasks.execute(work)) {
      wake();
    }
  }

  @Override
  public void execute(Runnable task) {
    if (tasks.execute(task)) {
      wake();
    }
  }

  @Override
  public void fail(Throwable cause) {
    recoveries.fail(cause);
    wake();
  }

  @Override
  public void addRecovery(Recovery recovery) {
    recoveries.add(recovery);
  }

  @Override
  public Timer schedule(long delayNs, Runnable task) {
    return timers.schedule(nowNs + Math.max(0, delayNs), task);
  }

  @Override
  public long nowNs() {
    return nowNs;
  }

  @Override
  public boolean inLoop() {
    return Thread.currentThread() == thread;
  }

  private void wake() {
    if (sleeping.get() && sleeping.compareAndSet(true, false)) {
      completions.wakeUp();
    }
  }

  private int runTimers() {
    int ran = 0;
    for (Runnable task = timers.pollDue(nowNs); task != null; task = timers.pollDue(nowNs)) {
      try {
        task.run();
      } catch (Throwable bug) {
        fail(bug);
      }
      if (++ran == TASKS_PER_ROUND) {
        break;
      }
    }
    return ran;
  }

  private void sleep() {
    sleeping.set(true);
    try {
      if (!tasks.isEmpty() || stopping) {
        return;
      }
      if (completions.isLost()) {
        LockSupport.parkNanos(sleepNs(SLEEP_WITHOUT_QUEUE_NS));
        return;
      }
      completions.arm();
      if (completions.pump() == 0) {
        completions.await(sleepNs(LONGEST_SLEEP_NS));
      }
      if (Thread.interrupted()) {
        LOG.warn("ignoring an interrupt of the progress thread; it ends with its channel layer");
      }
    } catch (Throwable bug) {
      fail(bug);
      LockSupport.parkNanos(SLEEP_WITHOUT_QUEUE_NS); // should it go on like that
    } finally {
      sleeping.set(false);
    }
  }

  private long sleepNs(long limitNs) {
    return timers.delayNs(clock.nanoTime(), recoveries.delayNs(limitNs));
  }
}
