package io.rdmashuffle.benchmarks.fetch;

import java.util.Arrays;
import java.util.Locale;

/** The median of repeated measurements with the smallest and the largest. */
record Spread(double median, double min, double max, int count) {
  static Spread of(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int n = sorted.length;
    double median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    return new Spread(median, sorted[0], sorted[n - 1], n);
  }

  /** Ratios of paired measurements: the first of one by the first of the other, and so on. */
  static Spread ratio(double[] numerators, double[] denominators) {
    double[] ratios = new double[numerators.length];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = numerators[i] / denominators[i];
    }
    return of(ratios);
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%.3g (%.3g to %.3g)", median, min, max);
  }
}
