package io.rdmashuffle.transport;

import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Keeps remote peers from flooding the log: of the lines of one key, a peer's address for instance,
 * one a minute is logged, and tells how many were left out since the last one. A bounded number of
 * keys is remembered; while all of them are younger than a minute, further keys share one line.
 *
 * <p><b>Threads:</b> any. There is nothing to close.
 */
public final class LogLimit {
  static final Duration INTERVAL = Duration.ofMinutes(1);
  static final int REMEMBERED_KEYS = 256;
  private static final Object FURTHER_KEYS = new Object();

  private final NanoClock clock;

  /** In the order of their last lines. Locked: only for events that are worth a line each. */
  private final Map<Object, Last> lines = new LinkedHashMap<>();

  private record Last(long loggedNs, long leftOut) {}

  public LogLimit(NanoClock clock) {
    this.clock = clock;
  }

  /**
   * Logs, or counts what was to be logged.
   *
   * @param key whose lines are limited together
   * @param line logs; gets what to append: how many were left out, or nothing
   */
  public void log(Object key, Consumer<String> line) {
    long leftOut;
    synchronized (lines) {
      leftOut = admit(key, clock.nanoTime());
    }
    if (leftOut >= 0) {
      line.accept(leftOut == 0 ? "" : " (" + leftOut + " more like it were not logged)");
    }
  }

  /** Returns how many were left out since the last line, or -1 if this one is left out. */
  private long admit(Object wanted, long nowNs) {
    Object key = lines.containsKey(wanted) || hasRoom(nowNs) ? wanted : FURTHER_KEYS;
    Last last = lines.get(key);
    if (last != null && !isOver(last, nowNs)) {
      lines.put(key, new Last(last.loggedNs, last.leftOut + 1));
      return -1;
    }
    lines.remove(key); // to the end of the order
    lines.put(key, new Last(nowNs, 0));
    return last == null ? 0 : last.leftOut;
  }

  private boolean hasRoom(long nowNs) {
    if (lines.size() < REMEMBERED_KEYS) {
      return true;
    }
    Iterator<Last> oldestFirst = lines.values().iterator();
    boolean over = isOver(oldestFirst.next(), nowNs);
    if (over) {
      oldestFirst.remove();
    }
    return over;
  }

  private static boolean isOver(Last last, long nowNs) {
    return nowNs - last.loggedNs >= INTERVAL.toNanos();
  }
}
