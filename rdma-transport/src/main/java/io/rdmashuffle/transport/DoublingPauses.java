package io.rdmashuffle.transport;

/**
 * How long something that failed is left alone: twice as long after each failure in a row, within
 * bounds. Immutable, any thread.
 *
 * @param shortestNs after the first failure
 * @param longestNs not exceeded
 */
public record DoublingPauses(long shortestNs, long longestNs) {
  /**
   * @param failures in a row, at least one
   */
  public long afterNs(int failures) {
    long ns = shortestNs;
    for (int i = 1; i < failures && ns < longestNs; i++) {
      ns *= 2;
    }
    return Math.min(ns, longestNs);
  }
}
