package io.rdmashuffle.it.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What {@link RoundsApplication} saw. A bean, for JSON. */
public final class RoundsResult {
  /** One per round; all equal if nothing went wrong. */
  public List<String> digests = new ArrayList<>();

  /** Why tasks failed, as Spark's task end events say; tasks of killed executors included. */
  public List<String> taskFailures = new ArrayList<>();

  /** Remote blocks by way, of the executors alive at the end. */
  public Map<String, Long> blocks = new TreeMap<>();

  /** Remote blocks by way, of the last round alone. */
  public Map<String, Long> lastRound = new TreeMap<>();

  /** Fallbacks by reason, of the executors alive at the end. */
  public Map<String, Long> fallbacks = new TreeMap<>();
}
