package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Registered memory goes from one tenant to the other as they need it. */
final class TenantFairnessTest {
  private static final int PAGE = ServerRig.PAGE;
  private static final int MEBIBYTE = 1 << 20;
  private static final int BUDGET = 32 * MEBIBYTE;
  private static final int GUARANTEED_STAGING = BUDGET / 4;
  @TempDir private Path directory;
  private ServerRig rig;
  private final List<ProtectionDomain> domains = new ArrayList<>();

  /** Windows of up to a MiB, for blocks from 64 KiB on; up to 8 MiB of staging memory each. */
  @BeforeEach
  void open() throws IOException {
    ServerSettings settings =
        new ServerSettings(
            0, MEBIBYTE, 64 << 10, 8 * MEBIBYTE, Duration.ofSeconds(3), Duration.ofSeconds(5));
    rig = new ServerRig(directory, settings, BUDGET, ServerRig.UNLIMITED, Map.of(Use.STAGING, 25));
  }

  @AfterEach
  void close() {
    CompletableFuture<Void> stopped = rig.server.stop();
    rig.run();
    assertThat(stopped).isCompleted();
    domains.forEach(ProtectionDomain::close);
    rig.close();
  }

  /** A job with its readers. */
  private final class Job {
    private final ProtectionDomain domain;
    private ScriptedOwnerChannel channel;

    Job() throws IOException {
      domain = rig.newDomain();
      domains.add(domain);
      channel = rig.connect(domain);
    }

    void endReaders() {
      rig.breakOff(channel);
    }

    Reply.Located locate(BlockKey... keys) {
      return rig.locate(channel, keys);
    }

    /** Asks, and returns the lease. */
    List<Reply.Answer> fetch(BlockKey... keys) {
      Reply.Located located = locate(keys);
      rig.release(channel, located.lease());
      return located.answers();
    }
  }

  private BlockKey large() throws IOException {
    return rig.block(rig.file(MEBIBYTE), 0, MEBIBYTE);
  }

  private BlockKey small() throws IOException {
    return rig.block(rig.file(PAGE), 0, 1000);
  }

  private static boolean isWindow(List<Reply.Answer> answers) {
    return answers.get(0) instanceof Reply.Granted granted && !granted.staged();
  }

  private static boolean isStaged(List<Reply.Answer> answers) {
    return answers.get(0) instanceof Reply.Granted granted && granted.staged();
  }

  @Test
  void idleWindowsOfAJobWithoutReadersGiveWayToAnotherJob() throws IOException {
    Job first = new Job();
    first.fetch(small());
    for (int i = 0; i < 32; i++) {
      first.fetch(large());
    }
    assertThat(rig.budget.availableBytes(Use.WINDOWS)).isZero();
    first.endReaders();

    Job second = new Job();
    for (int i = 0; i < 24; i++) {
      assertThat(isWindow(second.fetch(large()))).as("large block %s", i).isTrue();
      assertThat(isStaged(second.fetch(small()))).as("small block %s", i).isTrue();
    }
    second.endReaders();
  }

  @Test
  void theWindowIdleForLongestGoesFirstWhoeverItBelongsTo() throws IOException {
    Job first = new Job();
    Job second = new Job();
    BlockKey oldest = large();
    BlockKey newest = large();
    first.fetch(oldest);
    second.fetch(large());
    while (rig.budget.availableBytes(Use.WINDOWS) >= 2 * MEBIBYTE) {
      second.fetch(large());
    }
    first.fetch(newest);
    long registrations = rig.count(Counter.REGISTRATIONS);

    second.fetch(large());

    assertThat(rig.count(Counter.WINDOWS_EVICTED)).isEqualTo(1);
    first.fetch(newest);
    assertThat(rig.count(Counter.REGISTRATIONS)).as("still there").isEqualTo(registrations + 1);
    first.fetch(oldest);
    assertThat(rig.count(Counter.WINDOWS_EVICTED)).as("for the oldest").isEqualTo(2);
    first.endReaders();
    second.endReaders();
  }

  @Test
  void aLeasedWindowOfAnotherJobIsNeverEvicted() throws Exception {
    Job first = new Job();
    BlockKey key = large();
    Reply.Located leased = first.locate(key);
    Job second = new Job();
    for (int i = 0; i < 40; i++) {
      second.fetch(large());
    }
    long registrations = rig.count(Counter.REGISTRATIONS);
    assertThat(isWindow(first.fetch(key))).isTrue();
    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(registrations);
    rig.release(first.channel, leased.lease());
    first.endReaders();
    second.endReaders();
  }

  @Test
  void stagingMemoryOfManyJobsLeavesTheWindowsTheirs() throws IOException {
    List<Job> jobs = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      jobs.add(new Job());
      jobs.forEach(
          job -> {
            for (int round = 0; round < 2; round++) {
              assertThat(isStaged(job.fetch(newSmall()))).isTrue();
            }
          });
    }
    rig.run();
    int most = 8 * StagingShares.FEWEST_CHUNKS * (128 << 10);
    assertThat(rig.budget.usedBytes(Use.STAGING)).isLessThanOrEqualTo(most);

    for (int i = 0; i < (BUDGET - most) / MEBIBYTE; i++) {
      assertThat(isWindow(jobs.get(i % 8).fetch(large()))).isTrue();
    }
    assertThat(rig.count(Counter.WINDOWS_EVICTED)).isZero();
    jobs.forEach(Job::endReaders);
    rig.run();
    assertThat(rig.budget.usedBytes(Use.STAGING)).as("without readers").isZero();
  }

  private BlockKey newSmall() {
    try {
      return small();
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  @Test
  void aJobGetsItsStagingMemoryAsTheLeasesOfAnotherEnd() throws IOException {
    Job first = new Job();
    List<Long> leases = new ArrayList<>();
    while (rig.budget.usedBytes(Use.STAGING) < GUARANTEED_STAGING) {
      leases.add(first.locate(small()).lease());
    }
    for (int i = 0; i < 24; i++) { // so that there is nothing else to be had
      leases.add(first.locate(large()).lease());
    }
    Job second = new Job();
    for (long lease : leases) {
      rig.release(first.channel, lease);
    }

    assertThat(isStaged(second.fetch(small()))).isTrue();
    assertThat(isStaged(first.fetch(small()))).isTrue();
    assertThat(rig.budget.usedBytes(Use.STAGING)).isLessThanOrEqualTo(GUARANTEED_STAGING);
    first.endReaders();
    second.endReaders();
  }
}
