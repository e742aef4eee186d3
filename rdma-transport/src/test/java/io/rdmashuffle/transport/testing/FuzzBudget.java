package io.rdmashuffle.transport.testing;

import java.util.concurrent.TimeUnit;

/**
 * How long a fuzzer goes on, and from which seed: {@code -Dfuzz.seconds} and {@code -Dfuzz.seed},
 * which {@code dev/fuzz} sets. Round n is seeded with the seed plus n, so that a failed round can
 * be repeated alone. One thread.
 */
public final class FuzzBudget {
  private final long endNs;
  private final String name;
  private long seed;
  private long rounds;

  private FuzzBudget(String name, long seconds, long seed) {
    this.name = name;
    this.seed = seed;
    this.endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    System.out.println(name + ": " + seconds + " s from seed " + seed);
  }

  /**
   * @param ciSeconds unless told otherwise
   */
  public static FuzzBudget of(String name, int ciSeconds) {
    return new FuzzBudget(
        name,
        Long.getLong("fuzz.seconds", ciSeconds),
        Long.getLong("fuzz.seed", System.nanoTime()));
  }

  /** Whether there is time for another round; the first one always is. */
  public boolean goesOn() {
    if (rounds > 0 && System.nanoTime() >= endNs) {
      System.out.println(name + ": " + rounds + " rounds");
      return false;
    }
    rounds++;
    return true;
  }

  /** The seed of this round; each is used once. */
  public long nextSeed() {
    return seed++;
  }
}
