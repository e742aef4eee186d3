package io.rdmashuffle.core.adapter;

import io.rdmashuffle.core.adapter.AdapterRules.Pauses;

/** When to try again, and after how many failures in a row. One thread at a time. */
final class Retries {
  private Pauses pauses;
  private int failures;
  private long notBeforeNs;

  Retries(long nowNs) {
    notBeforeNs = nowNs;
  }

  /** Returns how long to wait; failures of another kind count from one again. */
  long failed(Pauses kind, long nowNs) {
    failures = kind.equals(pauses) ? failures + 1 : 1;
    pauses = kind;
    long pauseNs = kind.afterNs(failures);
    notBeforeNs = nowNs + pauseNs;
    return pauseNs;
  }

  boolean isPausing(long nowNs) {
    return nowNs - notBeforeNs < 0;
  }

  /** What was tried has worked for long. */
  void reset() {
    pauses = null;
  }
}
