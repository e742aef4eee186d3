package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.it.app.ExecutorProcesses;
import io.rdmashuffle.it.app.RoundsResult;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

/**
 * Things that go wrong under a running job: every round still gives the same result, no task fails
 * because of RDMA, and RDMA comes back.
 */
final class FaultsIT {
  private static final int MEGABYTES = 60;

  @Test
  void executorsKilledAndStoppedUnderFetchesCostNoResult() throws Exception {
    try (SubmittedRounds rounds =
        new SubmittedRounds("killed", 7, 3).halts(2, 4).start(MEGABYTES)) {
      rounds.awaitHalt(2);
      ProcessHandle killed = rounds.executorProcesses().get(0);
      ExecutorProcesses.kill(killed);
      rounds.endHalt(2);
      rounds.awaitHalt(4);
      List<ProcessHandle> alive = rounds.executorProcesses();
      assertThat(alive).doesNotContain(killed);
      ProcessHandle stopped = alive.get(0); // a new one may have no outputs yet
      ExecutorProcesses.signal("STOP", stopped);
      rounds.endHalt(4);
      rounds.awaitLog("no reply in time"); // from the one that stands still
      ExecutorProcesses.signal("CONT", stopped);

      RoundsResult result = rounds.finish();

      assertSameResults(result, 7);
      assertRdmaIsBack(result);
      assertThat(result.taskFailures).noneMatch(OurFailures::isOurs);
      assertThat(result.taskFailures)
          .as("fetches from the one that was killed")
          .anyMatch(failure -> failure.contains("FetchFailed"));
      assertThat(result.fallbacks).containsKey("transfer-failed");
    }
  }

  @Test
  void anExecutorWhoseAdapterIsTakenAwayGoesOnByNetty() throws Exception {
    try (SubmittedRounds rounds =
        new SubmittedRounds("lost", 6, 2).takesFaults().halts(2, 4).start(24)) {
      rounds.awaitHalt(2);
      List<ProcessHandle> executors = rounds.executorProcesses();
      rounds.fault(executors.get(0), "lost");
      rounds.endHalt(2);
      rounds.awaitHalt(4);
      rounds.awaitLog("RDMA closed, left behind"); // destroying fails, too
      rounds.endHalt(4);
      rounds.awaitRound(4);
      assertThat(rounds.executorProcesses()).as("they live").isEqualTo(executors);

      RoundsResult result = rounds.finish();

      assertSameResults(result, 6);
      assertThat(result.taskFailures).isEmpty();
      assertThat(byRdma(result.blocks)).as("before the loss").isPositive();
      assertThat(result.lastRound).containsOnlyKeys("netty");
      assertThat(result.fallbacks).containsKeys("no-device", "peer-without-rdma");
      assertThat(rounds.executorLogs().stream().flatMap(String::lines))
          .as("lines that tell of the loss")
          .filteredOn(line -> line.contains("no RDMA in this process"))
          .singleElement()
          .asString()
          .contains(" is lost: DEVICE_FATAL");
    }
  }

  @Test
  void failingReadsBrokenConnectionsAndRefusedRegistrationsCostNoTask() throws Exception {
    String rules =
        "wc:op=READ,n=40,status=REM_ACCESS_ERR;qp_break:after=120;"
            + "drop_connection:after_ms=3000;reg_mr:errno=ENOMEM,after=6,count=3;"
            + "wc:op=READ,after=200,delay_ms=4000";
    try (SubmittedRounds rounds =
        new SubmittedRounds("adapter-faults", 10, 2).faults(rules).start(MEGABYTES)) {
      RoundsResult result = rounds.finish();

      assertSameResults(result, 10);
      assertThat(result.taskFailures).isEmpty();
      assertThat(result.fallbacks).containsKey("read-refused");
      assertRdmaIsBack(result);
    }
  }

  @Test
  void aPeerThatAnswersNoConnectIsLeftToNettyAndComesBack() throws Exception {
    try (SubmittedRounds rounds =
        new SubmittedRounds("black-hole", 6, 3)
            .set("spark.shuffle.rdma.connect.timeout", "2s")
            .faults("connect:ignore,n=1") // in each executor the way to one of two peers
            .start(MEGABYTES)) {
      RoundsResult result = rounds.finish();

      assertSameResults(result, 6);
      assertThat(result.taskFailures).isEmpty();
      assertThat(result.fallbacks).containsKey("connect-failed");
      assertThat(result.fallbacks.keySet()).isSubsetOf("connect-failed", "breaker-open");
      assertThat(result.blocks.get("netty")).isLessThan(byRdma(result.blocks));
      assertRdmaIsBack(result);
    }
  }

  @Test
  void aPeerThatAnswersNoDiscoveryIsLeftToNettyAndComesBack() throws Exception {
    try (SubmittedRounds rounds =
        new SubmittedRounds("discovery", 3, 3)
            .set("spark.shuffle.rdma.discovery.timeout", "1s")
            .standstill(10)
            .start(MEGABYTES)) {
      RoundsResult result = rounds.finish();

      assertSameResults(result, 3);
      assertThat(result.taskFailures).isEmpty();
      assertThat(result.fallbacks).containsKey("discovery-failed");
      assertThat(byRdma(result.blocks)).as("from the other peer").isPositive();
      assertRdmaIsBack(result);
    }
  }

  @Test
  void aCorruptedReadIsNoticedAndFetchedOnceMoreByNetty() throws Exception {
    // Without extra memory Spark notices only while the task reads, and repeats the map stage.
    try (SubmittedRounds rounds =
        new SubmittedRounds("corrupt", 5, 2)
            .set("spark.shuffle.detectCorrupt.useExtraMemory", "true")
            .faults("corrupt_read:n=4")
            .start(8)) {
      RoundsResult result = rounds.finish();

      assertSameResults(result, 5);
      assertThat(result.taskFailures).isEmpty();
      assertThat(result.fallbacks).containsEntry("corrupt-retry", 2L); // one per executor
    }
  }

  @Test
  void aMemlockOf64KibibytesCostsNoTask() throws Exception {
    try (SubmittedRounds rounds =
        new SubmittedRounds("memlock", 3, 2).launcher(Memlock.of(64 << 10)).start(8)) {
      RoundsResult result = rounds.finish();

      assertSameResults(result, 3);
      assertThat(result.taskFailures).isEmpty();
      assertThat(result.blocks.get("netty")).as("no connection has room").isPositive();
      assertThat(result.blocks.get("read") + result.blocks.get("staged")).isZero();
      for (String log : rounds.executorLogs()) {
        assertThat(log.lines().filter(line -> line.contains("RDMA") && line.contains(" WARN ")))
            .singleElement(InstanceOfAssertFactories.STRING)
            .contains("no RDMA in", "memlock limit of 64 KiB", "take 272 KiB", "ulimit -l");
      }
    }
  }

  static void assertSameResults(RoundsResult result, int rounds) {
    assertThat(result.digests).hasSize(rounds);
    assertThat(List.copyOf(new java.util.TreeSet<>(result.digests))).hasSize(1);
  }

  static void assertRdmaIsBack(RoundsResult result) {
    assertThat(byRdma(result.lastRound))
        .as("blocks by READ in the last round " + result.lastRound)
        .isPositive();
  }

  private static long byRdma(Map<String, Long> blocks) {
    return blocks.getOrDefault("read", 0L) + blocks.getOrDefault("staged", 0L);
  }
}
