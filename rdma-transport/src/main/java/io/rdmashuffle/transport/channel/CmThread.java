package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of a device that waits for connection events. It hands each to whoever watches the
 * event's id, and runs the tasks and timers of connections in the making.
 *
 * <p><b>Threads:</b> {@link #execute} and {@link #stop} any; the rest on this thread only.
 */
final class CmThread implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(CmThread.class);
  private static final long LONGEST_WAIT_NS = TimeUnit.HOURS.toNanos(1);
  private static final long FAILURE_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Hears of what happens to one id. */
  interface Watcher {
    void onEvent(CmEvent event);
  }

  private final CmChannel channel;
  private final NanoClock clock;
  private final TaskQueue tasks = new TaskQueue(Integer.MAX_VALUE);
  private final TimerHeap timers = new TimerHeap();
  private final Map<CmId, Watcher> watchers = new IdentityHashMap<>();
  private Watcher requestWatcher;
  private boolean awaitFails;
  private volatile boolean stopping;

  /**
   * @param channel lent; closed by its maker after this has ended
   */
  CmThread(CmChannel channel, NanoClock clock) {
    this.channel = channel;
    this.clock = clock;
  }

  /** Runs it here; drops it once stopped. */
  void execute(Runnable task) {
    if (tasks.add(task)) {
      channel.wakeUp();
    }
  }

  void stop() {
    stopping = true;
    channel.wakeUp();
  }

  ProgressLoop.Timer schedule(long delayNs, Runnable task) {
    return timers.schedule(clock.nanoTime() + delayNs, task);
  }

  void watch(CmId id, Watcher watcher) {
    watchers.put(id, watcher);
  }

  /** After the id is closed: no event names it any more. */
  void forget(CmId id) {
    watchers.remove(id);
  }

  /** Who gets the connect requests, whose ids are new. */
  void watchRequests(Watcher watcher) {
    requestWatcher = watcher;
  }

  @Override
  public void run() {
    while (!stopping) {
      runOnce(LONGEST_WAIT_NS);
    }
    tasks.close();
    runTasks();
  }

  /** Runs what waits, then waits for one event and handles it. Returns whether there was any. */
  boolean runOnce(long longestWaitNs) {
    boolean ran = runTasks() | runTimers();
    CmEvent event = await(ran ? 0 : timers.delayNs(clock.nanoTime(), longestWaitNs));
    if (event == null) {
      return ran;
    }
    runTasks(); // what was asked for before the event could come: who watches, above all
    Watcher watcher = watchers.get(event.id());
    if (watcher == null && event.type() == CmEvent.Type.CONNECT_REQUEST) {
      watcher = requestWatcher;
    }
    if (watcher != null) {
      Watcher hears = watcher;
      runGuarded(() -> hears.onEvent(event));
    }
    return true;
  }

  private CmEvent await(long timeoutNs) {
    try {
      CmEvent event = channel.await(timeoutNs);
      awaitFails = false;
      return event;
    } catch (VerbsException e) {
      if (!awaitFails) {
        LOG.error("waiting for connection events fails; trying on", e);
      }
      awaitFails = true;
      LockSupport.parkNanos(FAILURE_PAUSE_NS);
      return null;
    }
  }

  private boolean runTasks() {
    boolean ran = false;
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      runGuarded(task);
      ran = true;
    }
    return ran;
  }

  private boolean runTimers() {
    boolean ran = false;
    long nowNs = clock.nanoTime();
    for (Runnable task = timers.pollDue(nowNs); task != null; task = timers.pollDue(nowNs)) {
      runGuarded(task);
      ran = true;
    }
    return ran;
  }

  private static void runGuarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable bug) {
      LOG.error("a task of the CM thread threw; the thread goes on", bug);
    }
  }
}
