package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.it.app.ExecutorProcesses;
import io.rdmashuffle.it.app.ExecutorState;
import io.rdmashuffle.it.app.SoakResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random jobs while executors are killed and stopped at random and their adapters fail at random.
 * {@code -Dsoak.seconds} and {@code -Dsoak.seed} say how long and in which order; {@code dev/soak}
 * sets them. The seed decides the jobs, the faults and what is done to whom; when exactly it hits
 * depends on the machine.
 */
final class SoakIT {
  private static final int EXECUTORS = 3;
  private static final long SECONDS = Long.getLong("soak.seconds", 180);

  private final long seed = Long.getLong("soak.seed", System.nanoTime());
  private final Random random = new Random(seed);

  @Test
  @Timeout(unit = TimeUnit.HOURS, value = 5)
  void randomJobsUnderRandomFaultsGiveTheRightResultsAndLeaveNothing() throws Exception {
    String rules = faults();
    System.out.println("soak of " + SECONDS + " s, seed " + seed + ", faults " + rules);
    SoakResult result;
    try (SubmittedSoak soak = SubmittedSoak.start(EXECUTORS, SECONDS, seed, rules)) {
      while (!soak.isQuiet()) {
        harm(soak);
      }
      result = soak.finish();
    }
    System.out.println(result.jobs + " jobs, " + result.blocksByRdma + " blocks by RDMA");

    assertThat(result.jobs).isPositive();
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

  /** One thing, or nothing, to one executor, then a pause. */
  private void harm(SubmittedSoak soak) throws Exception {
    int dice = random.nextInt(10);
    int whom = random.nextInt(EXECUTORS);
    long pauseMs = 6_000 + random.nextInt(14_000);
    long stoppedMs = 500 + random.nextInt(9_000);
    List<ProcessHandle> executors = soak.executorProcesses();
    if (executors.size() == EXECUTORS && dice < 2) {
      System.out.println("kill " + whom);
      ExecutorProcesses.signal("KILL", executors.get(whom));
    } else if (executors.size() == EXECUTORS && dice < 6) {
      System.out.println("stop " + whom + " for " + stoppedMs + " ms");
      ExecutorProcesses.signal("STOP", executors.get(whom));
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(stoppedMs));
      ExecutorProcesses.signal("CONT", executors.get(whom));
    }
    soak.awaitQuiet(pauseMs);
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
