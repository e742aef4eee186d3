package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.it.app.ExecutorProcesses;
import io.rdmashuffle.it.app.ExecutorState;
import io.rdmashuffle.it.app.SoakResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random jobs while executors are killed and stopped at random and their adapters fail at random;
 * every {@link Harm} comes up. {@code -Dsoak.seconds} and {@code -Dsoak.seed} say how long and in
 * which order; {@code dev/soak} sets them. The seed decides the jobs, the faults and what is done
 * to whom; when exactly it hits depends on the machine.
 */
final class SoakIT {
  private static final int EXECUTORS = 3;
  private static final long SECONDS = Long.getLong("soak.seconds", 180);

  /** So long before the end nothing is harmed any more, and what cannot recover is replaced. */
  private static final long LEFT_ALONE_MS = 25_000;

  /** An executor that has lost its adapter goes on for so long, longer than closing takes. */
  private static final long SURVIVES_S = 45;

  private final long seed = Long.getLong("soak.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final Map<Harm, Integer> inflicted = new EnumMap<>(Harm.class);

  /** Executors that cannot be as they were any more, with the time at which they are killed. */
  private final Map<ProcessHandle, Long> toReplace = new LinkedHashMap<>();

  /** Executors that Spark may have ended, and that nobody has killed. */
  private final Set<ProcessHandle> mayHaveEnded = new HashSet<>();

  private int replaced;

  @Test
  @Timeout(unit = TimeUnit.HOURS, value = 5)
  void randomJobsUnderRandomFaultsGiveTheRightResultsAndLeaveNothing() throws Exception {
    String rules = faults();
    System.out.println("soak of " + SECONDS + " s, seed " + seed + ", faults " + rules);
    SoakResult result;
    int started;
    long endedBySpark;
    try (SubmittedSoak soak = SubmittedSoak.start(EXECUTORS, SECONDS, seed, rules)) {
      harm(soak);
      endedBySpark = mayHaveEnded.stream().filter(executor -> !executor.isAlive()).count();
      result = soak.finish();
      started = soak.executorsStarted();
    }
    System.out.println(
        result.jobs
            + " jobs, "
            + result.blocksByRdma
            + " blocks by RDMA, done: "
            + inflicted
            + ", ended by Spark: "
            + endedBySpark);

    assertThat(result.jobs).isPositive();
    assertThat(result.blocksByRdma).isPositive();
    assertThat(inflicted.keySet()).as("seed %d", seed).containsExactly(Harm.values());
    assertThat(started)
        .as("executors, and one for each that was killed or short of something, seed %d", seed)
        .isEqualTo(EXECUTORS + inflicted.get(Harm.KILL) + replaced + endedBySpark);
    assertThat(result.wrong).as("seed %d", seed).isEmpty();
    assertThat(result.failures).as("seed %d", seed).noneMatch(OurFailures::isOurs);
    assertThat(result.after).hasSize(EXECUTORS);
    for (ExecutorState state : result.after) {
      assertThat(state.levels.get("leases")).as("leases, %s", state).isZero();
      assertThat(state.levels.get("pool.chunks-out")).as("chunks, %s", state).isZero();
      assertThat(state.levels.get("outputs")).as("outputs, %s", state).isZero();
      assertThat(state.levels.get("registered-bytes.windows")).as("windows, %s", state).isZero();
      assertThat(state.shuffleMappings).as("mapped files, %s", state).isZero();
      assertThat(state.shuffleDescriptors).as("open files, %s", state).isZero();
    }
  }

  /** Every kind of harm in random order, again and again, while there is time for more. */
  private void harm(SubmittedSoak soak) throws Exception {
    soak.awaitFirstJob();
    List<Harm> deck = new ArrayList<>();
    while (soak.remainingMs() > LEFT_ALONE_MS && !soak.isQuiet()) {
      if (deck.isEmpty()) {
        deck.addAll(List.of(Harm.values()));
        Collections.shuffle(deck, random);
      }
      replace(due -> System.nanoTime() - due > 0);
      harm(soak, deck);
      soak.awaitQuiet(3_000 + random.nextInt(8_000));
    }
    replace(due -> true);
  }

  /**
   * The next harm of the deck to an executor that is well; if it takes it, it is out of the deck.
   */
  private void harm(SubmittedSoak soak, List<Harm> deck) throws Exception {
    List<ProcessHandle> well = new ArrayList<>(soak.executorProcesses());
    if (well.size() < EXECUTORS) {
      return; // one is being started
    }
    well.removeAll(toReplace.keySet());
    ProcessHandle whom = well.get(random.nextInt(well.size()));
    Harm harm = deck.get(0);
    if (harm.inflict(soak, whom, random)) {
      System.out.println(harm + " to " + whom.pid());
      deck.remove(0);
      inflicted.merge(harm, 1, Integer::sum);
      if (harm.mayEndIt()) {
        mayHaveEnded.add(whom);
      } else if (harm == Harm.KILL) {
        mayHaveEnded.remove(whom);
      }
      if (harm.leavesSomething()) {
        toReplace.put(whom, System.nanoTime() + TimeUnit.SECONDS.toNanos(SURVIVES_S));
      }
    }
  }

  private void replace(LongPredicate due) throws Exception {
    for (ProcessHandle executor : List.copyOf(toReplace.keySet())) {
      if (due.test(toReplace.get(executor))) {
        toReplace.remove(executor);
        mayHaveEnded.remove(executor);
        assertThat(executor.isAlive()).as("it survived what its adapter did").isTrue();
        ExecutorProcesses.kill(executor);
        replaced++;
      }
    }
  }

  /** Rules for the adapter of every executor; a new executor begins to count anew. */
  private String faults() {
    List<String> rules = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      rules.add("wc:op=READ,n=" + (20 + random.nextInt(2_000)) + ",status=REM_ACCESS_ERR");
      rules.add("wc:after=" + random.nextInt(3_000) + ",delay_ms=" + random.nextInt(5_000));
      rules.add("qp_break:after=" + (10 + random.nextInt(3_000)));
      rules.add("drop_connection:after_ms=" + (500 + random.nextInt(30_000)));
      rules.add(
          String.format(
              Locale.ROOT,
              "reg_mr:errno=%s,after=%d,count=%d",
              random.nextBoolean() ? "ENOMEM" : "EFAULT",
              random.nextInt(300),
              1 + random.nextInt(5)));
      rules.add("connect:" + (random.nextBoolean() ? "refuse" : "ignore") + ",n=" + (2 + i * 3));
      rules.add("corrupt_read:n=" + (50 + random.nextInt(2_000)));
    }
    return String.join(";", rules);
  }
}
