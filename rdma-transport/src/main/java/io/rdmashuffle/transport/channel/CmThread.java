package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.Workers;
import io.rdmashuffle.transport.verbs.CmChannel;
import io.rdmashuffle.transport.verbs.CmEvent;
import io.rdmashuffle.transport.verbs.CmId;
import io.rdmashuffle.transport.verbs.VerbsException;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread of a device that waits for connection events. It hands each to whoever watches the
 * event's id, and runs the tasks and timers of connections in the making.
 *
 * <p><b>Threads:</b> {@link #execute} and {@link #stop} any; the rest on this thread only.
 * <b>Failure:</b> what a task throws is told to the progress thread, and this one goes on.
 */
final class CmThread implements Workers, Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(CmThread.class);
  private static final long LONGEST_WAIT_NS = TimeUnit.HOURS.toNanos(1);
  private static final long FAILURE_PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Hears of what happens to one id. */
  interface Watcher {
    void onEvent(CmEvent event);
  }

  private final CmChannel channel;
  private final NanoClock clock;
  private final Consumer<Throwable> bugs;
  private final LoopQueue tasks;
  private final TimerHeap timers = new TimerHeap();
  private final Map<CmId, Watcher> watchers = new IdentityHashMap<>();
  private Watcher requestWatcher;
  private Repeat repeat;
  private boolean awaitFails;
  private volatile boolean stopping;

  /**
   * @param channel lent; closed by its maker after this has ended
   * @param gate what is handed over to this thread passes it
   * @param bugs hears of each Error or exception that a task, a timer or a watcher let through, and
   *     of events that may be lost
   */
  CmThread(CmChannel channel, NanoClock clock, Gate gate, Consumer<Throwable> bugs) {
    this.channel = channel;
    this.clock = clock;
    this.bugs = bugs;
    this.tasks = new LoopQueue("CM", gate, bugs);
  }

  /** Runs it here; abandons it once stopped. */
  @Override
  public void execute(Work work) {
    if (tasks.execute(work)) {
      channel.wakeUp();
    }
  }

  /** Does this from now on, every so often. Once, before this runs. */
  void repeat(long intervalNs, Runnable action) {
    repeat = new Repeat(clock.nanoTime(), intervalNs, action);
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
    tasks.run(Integer.MAX_VALUE);
  }

  /** Runs what waits, then waits for one event and handles it. Returns whether there was any. */
  boolean runOnce(long longestWaitNs) {
    boolean ran = tasks.run(Integer.MAX_VALUE) > 0 | runTimers();
    repeatIfDue();
    CmEvent event = await(ran ? 0 : waitNs(longestWaitNs));
    if (event == null) {
      return ran;
    }
    tasks.run(
        Integer
            .MAX_VALUE); // what was asked for before the event could come: who watches, above all
    try {
      dispatch(event);
    } catch (Throwable bug) {
      bugs.accept(bug);
    }
    return true;
  }

  private void dispatch(CmEvent event) {
    Watcher watcher = watchers.get(event.id());
    if (watcher == null && event.type() == CmEvent.Type.CONNECT_REQUEST) {
      watcher = requestWatcher;
    }
    if (watcher != null) {
      watcher.onEvent(event);
    }
  }

  private long waitNs(long longestWaitNs) {
    long nowNs = clock.nanoTime();
    long limitNs = repeat == null ? longestWaitNs : repeat.delayNs(nowNs, longestWaitNs);
    return timers.delayNs(nowNs, limitNs);
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
    } catch (Throwable bug) { // the event may be lost, whosever it was
      bugs.accept(bug);
    }
    LockSupport.parkNanos(FAILURE_PAUSE_NS);
    return null;
  }

  private void repeatIfDue() {
    try {
      if (repeat != null) {
        repeat.runIfDue(clock.nanoTime());
      }
    } catch (Throwable bug) {
      bugs.accept(bug);
    }
  }

  private boolean runTimers() {
    boolean ran = false;
    long nowNs = clock.nanoTime();
    for (Runnable task = timers.pollDue(nowNs); task != null; task = timers.pollDue(nowNs)) {
      try {
        task.run();
      } catch (Throwable bug) {
        bugs.accept(bug);
      }
      ran = true;
    }
    return ran;
  }
}
