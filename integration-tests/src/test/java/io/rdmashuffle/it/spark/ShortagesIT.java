package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.it.app.RoundsResult;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** What every process may be short of for a while, under a job that reads. */
final class ShortagesIT {
  private static final int EXECUTORS = 2;
  private static final long SHORT_NS = TimeUnit.SECONDS.toNanos(4);

  /**
   * Enough for one of the buffers through which the JDK reads files, which it then frees, and too
   * little for an adapter. Netty counts its memory itself.
   */
  private static final String LITTLE_DIRECT_MEMORY =
      "-XX:MaxDirectMemorySize=8192 -Djdk.nio.maxCachedBufferSize=0"
          + " -Dio.netty.maxDirectMemory=268435456";

  /** For Spark to have made the threads that it keeps for a minute, and for what comes after. */
  private static final int ROUNDS = 4;

  @Test
  void executorsThatCanMakeNoThreadsLoseNoBlock() throws Exception {
    try (SubmittedRounds rounds =
        new SubmittedRounds("shortages", 0, EXECUTORS)
            .set("spark.cleaner.referenceTracking", "false") // Spark's cleaner makes threads
            .launcher(ThreadLimit.launcher())
            .start(24)) {
      rounds.awaitRound(ROUNDS);
      List<ProcessHandle> executors = rounds.executorProcesses();
      for (ProcessHandle executor : executors) {
        ThreadLimit.exhaust(executor);
      }
      LockSupport.parkNanos(SHORT_NS);
      int before = rounds.roundsDone();
      for (ProcessHandle executor : executors) {
        ThreadLimit.relieve(executor);
      }
      rounds.awaitRound(before + ROUNDS);
      assertThat(rounds.executorProcesses()).isEqualTo(executors);
      rounds.enough();

      RoundsResult result = rounds.finish();

      assertThat(executors).hasSize(EXECUTORS);
      assertThat(before).as("rounds without new threads").isGreaterThan(ROUNDS + 1);
      FaultsIT.assertSameResults(result, result.digests.size());
      assertThat(result.taskFailures).isEmpty();
      FaultsIT.assertRdmaIsBack(result);
    }
  }

  /**
   * A class of the JDK that meets the shortage as it is initialized stays broken: the second
   * attempt may be told as well, and is the last.
   */
  @Test
  void executorsWithoutDirectMemoryForTheAdapterUseNetty() throws Exception {
    try (SubmittedRounds rounds =
        new SubmittedRounds("direct-memory", 3, EXECUTORS)
            .set("spark.executor.extraJavaOptions", LITTLE_DIRECT_MEMORY)
            .start(8)) {
      RoundsResult result = rounds.finish();

      FaultsIT.assertSameResults(result, 3);
      assertThat(result.taskFailures).isEmpty();
      assertThat(result.lastRound).containsOnlyKeys("netty");
      assertThat(rounds.executorLogs()).hasSize(EXECUTORS);
      for (String log : rounds.executorLogs()) {
        List<String> lines =
            log.lines().filter(line -> line.contains("no RDMA in this process")).toList();
        assertThat(lines).hasSizeBetween(1, 2);
        assertThat(lines.get(0)).contains("for now", "direct buffer memory");
      }
    }
  }
}
