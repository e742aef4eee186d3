package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WorkCompletions;
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
 * <p><b>Failure:</b> what a task or a sink throws is logged as a bug, and the loop goes on. If the
 * completion queue fails, every queue pair on it is lost: the handler is told once, and tasks and
 * timers go on without completions.
 */
final class ProgressThread implements ProgressLoop, Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(ProgressThread.class);
  private static final int TASKS_PER_ROUND = 256;
  private static final int ADMITTED_TASKS = 4096;
  private static final int COMPLETIONS_PER_POLL = 64;
  private static final long LONGEST_SLEEP_NS = TimeUnit.HOURS.toNanos(1);
  private static final long SLEEP_WITHOUT_QUEUE_NS = TimeUnit.MILLISECONDS.toNanos(1);

  private final CompletionQueue queue;
  private final NanoClock clock;
  private final Spin spin;
  private final TaskQueue tasks = new TaskQueue(ADMITTED_TASKS);
  private final TimerHeap timers = new TimerHeap();
  private final CompletionTable completionTable = new CompletionTable();
  private final WorkCompletions completions = new WorkCompletions(COMPLETIONS_PER_POLL);
  private final AtomicBoolean sleeping = new AtomicBoolean();
  private Consumer<TransportException> queueFailureHandler;
  private long nowNs;
  private volatile Thread thread;
  private volatile boolean stopping;

  /**
   * @param queue lent; closed by its maker after this has ended
   * @param spin how long to look before sleeping
   * @param queueFailureHandler called once, on this thread, if the queue is lost
   */
  ProgressThread(
      CompletionQueue queue,
      NanoClock clock,
      Duration spin,
      Consumer<TransportException> queueFailureHandler) {
    this.queue = queue;
    this.clock = clock;
    this.spin = new Spin(spin.toNanos());
    this.queueFailureHandler = queueFailureHandler;
    this.nowNs = clock.nanoTime();
  }

  CompletionTable completionTable() {
    return completionTable;
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
    while (runTasks() > 0) {
      nowNs = clock.nanoTime();
    }
  }

  /** One round. Tests that step the loop call it on their own thread, which is then the loop's. */
  boolean runOnce() {
    if (thread == null) {
      thread = Thread.currentThread();
    }
    nowNs = clock.nanoTime();
    return runTasks() + pollCompletions() + runTimers() > 0;
  }

  /** Ends {@link #run} soon. Any thread. */
  void stop() {
    stopping = true;
    wake();
  }

  @Override
  public boolean offer(Runnable task) {
    boolean admitted = tasks.offer(task);
    if (admitted) {
      wake();
    }
    return admitted;
  }

  @Override
  public void execute(Runnable task) {
    if (tasks.add(task)) {
      wake();
    }
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
      queue.wakeUp();
    }
  }

  private int runTasks() {
    int ran = 0;
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      runGuarded(task);
      if (++ran == TASKS_PER_ROUND) {
        break;
      }
    }
    return ran;
  }

  private int runTimers() {
    int ran = 0;
    for (Runnable task = timers.pollDue(nowNs); task != null; task = timers.pollDue(nowNs)) {
      runGuarded(task);
      if (++ran == TASKS_PER_ROUND) {
        break;
      }
    }
    return ran;
  }

  private int pollCompletions() {
    if (queueFailureHandler == null) {
      return 0;
    }
    int count;
    try {
      count = queue.poll(completions);
    } catch (VerbsException e) {
      onQueueFailure(e);
      return 1;
    }
    for (int i = 0; i < count; i++) {
      try {
        completionTable.dispatch(completions, i);
      } catch (Throwable bug) {
        logBug(bug);
      }
    }
    return count;
  }

  private void onQueueFailure(VerbsException cause) {
    Consumer<TransportException> handler = queueFailureHandler;
    queueFailureHandler = null;
    runGuarded(() -> handler.accept(cause));
  }

  private void sleep() {
    sleeping.set(true);
    try {
      if (!tasks.isEmpty() || stopping) {
        return;
      }
      if (queueFailureHandler == null) {
        LockSupport.parkNanos(timers.delayNs(clock.nanoTime(), SLEEP_WITHOUT_QUEUE_NS));
        return;
      }
      queue.arm();
      if (pollCompletions() == 0) {
        queue.await(timers.delayNs(clock.nanoTime(), LONGEST_SLEEP_NS));
      }
    } catch (VerbsException e) {
      onQueueFailure(e);
    } finally {
      sleeping.set(false);
    }
    if (Thread.interrupted()) {
      LOG.warn("ignoring an interrupt of the progress thread; it ends with its channel layer");
    }
  }

  private static void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable bug) {
      logBug(bug);
    }
  }

  private static void logBug(Throwable bug) {
    LOG.error("a task of the progress thread threw; the loop goes on", bug);
  }
}
