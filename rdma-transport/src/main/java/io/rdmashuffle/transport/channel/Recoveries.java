package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.channel.ProgressLoop.Recovery;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a loop does about an Error or a bug: it remembers it, which allocates nothing, and runs the
 * recoveries once a round, with a pause in between, until all have succeeded.
 *
 * <p><b>Threads:</b> {@link #fail} and {@link #add} any, the rest on the progress thread.
 */
final class Recoveries {
  private static final Logger LOG = LoggerFactory.getLogger(Recoveries.class);
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(10);

  private volatile Recovery[] all = {};
  private volatile Throwable failure;
  private boolean ran;
  private long ranNs;
  private boolean logged;
  private long loggedNs;

  synchronized void add(Recovery recovery) { // at opening, from several threads
    Recovery[] more = Arrays.copyOf(all, all.length + 1);
    more[all.length] = recovery;
    all = more;
  }

  void fail(Throwable cause) {
    if (failure == null) {
      failure = cause;
    }
  }

  /** How long the loop may sleep: not long while there is something to recover from. */
  long delayNs(long limitNs) {
    return failure == null ? limitNs : Math.min(limitNs, PAUSE_NS);
  }

  /** Runs them if something failed and the pause is over. Never throws. */
  boolean runIfDue(long nowNs) {
    Throwable cause = failure;
    if (cause == null || (ran && nowNs - ranNs < PAUSE_NS)) {
      return false;
    }
    ran = true;
    ranNs = nowNs;
    failure = null;
    Recovery[] due = all;
    for (int i = due.length - 1; i >= 0; i--) {
      try {
        due[i].recover(cause);
      } catch (Throwable again) { // no memory for that, either: later
        fail(cause);
      }
    }
    log(cause, nowNs);
    return true;
  }

  private void log(Throwable cause, long nowNs) {
    if (logged && nowNs - loggedNs < QUIET_NS) {
      return;
    }
    try {
      LOG.error("everything under way by RDMA was ended, as something may have been lost", cause);
      logged = true;
      loggedNs = nowNs;
    } catch (Throwable noMemory) { // the next one is logged
      logged = false;
    }
  }
}
