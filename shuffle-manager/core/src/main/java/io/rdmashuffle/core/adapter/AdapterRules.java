package io.rdmashuffle.core.adapter;

import io.rdmashuffle.transport.DoublingPauses;
import java.time.Duration;

/**
 * How a kind of process treats its adapter.
 *
 * @param process the process, for log lines
 * @param otherwise what happens without an adapter, for log lines
 * @param openTimeout how long callers wait for the adapter, counted from the beginning of opening
 * @param closeTimeout how long a caller waits until the adapter is closed
 * @param shortages pauses between attempts while threads or memory are short
 * @param absences pauses between attempts after the adapter was lost, or while there is none
 */
public record AdapterRules(
    String process,
    String otherwise,
    Duration openTimeout,
    Duration closeTimeout,
    Pauses shortages,
    Pauses absences) {
  private static final Pauses SHORTAGES = new Pauses(Duration.ofSeconds(1), Duration.ofMinutes(1));
  private static final Pauses ABSENCES = new Pauses(Duration.ofMinutes(1), Duration.ofMinutes(10));
  private static final Pauses NO_OTHER_ATTEMPT = new Pauses(Duration.ZERO, Duration.ZERO);

  /** Each pause is twice as long as the one before, up to the longest. None: there is no retry. */
  public record Pauses(Duration first, Duration longest) {
    boolean areNone() {
      return first.isZero();
    }

    /**
     * @param failures in a row, at least one
     */
    long afterNs(int failures) {
      return new DoublingPauses(first.toNanos(), longest.toNanos()).afterNs(failures);
    }
  }

  /** For an executor: once it found no adapter, or lost it, it stays without. */
  public static AdapterRules forExecutor(
      String process, String otherwise, Duration openTimeout, Duration closeTimeout) {
    return new AdapterRules(
        process, otherwise, openTimeout, closeTimeout, SHORTAGES, NO_OTHER_ATTEMPT);
  }

  /** For a task that decides at its start whether it uses RDMA: there is one attempt. */
  public static AdapterRules forTask(
      String process, String otherwise, Duration openTimeout, Duration closeTimeout) {
    return new AdapterRules(
        process, otherwise, openTimeout, closeTimeout, NO_OTHER_ATTEMPT, NO_OTHER_ATTEMPT);
  }

  /** For a NodeManager: it tries again after 1, 2, 4 ... 10 minutes, for as long as it runs. */
  public static AdapterRules forNode(String process, String otherwise, Duration closeTimeout) {
    return new AdapterRules(process, otherwise, Duration.ZERO, closeTimeout, SHORTAGES, ABSENCES);
  }
}
