package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.it.app.RoundsResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an application leaves behind: nothing. Spark's Worker ends executors by a signal soon after
 * the driver asked them to stop, so they may or may not come to closing anything themselves.
 */
final class StopIT {
  private static final long EXIT_LIMIT_S = 5;

  @TempDir Path temporary;

  @Test
  void afterTheStopProcessesEndInTimeAndNothingIsLeft() throws Exception {
    try (SubmittedRounds rounds =
        new SubmittedRounds("stop", 3, 2).temporaryFolder(temporary).start(20)) {
      rounds.awaitRound(0);
      List<ProcessHandle> processes = new ArrayList<>(rounds.executorProcesses());
      assertThat(processes).hasSize(2);
      processes.add(rounds.driverProcess());
      assertThat(temporary.toFile().list()).as("where they write").isNotEmpty();
      rounds.awaitStop();

      CompletableFuture.allOf(
              processes.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
          .get(EXIT_LIMIT_S, TimeUnit.SECONDS);

      RoundsResult result = rounds.finish();
      assertThat(result.blocks.get("read") + result.blocks.get("staged")).isPositive();
      assertThat(rounds.executorLogs())
          .hasSize(2)
          .noneMatch(log -> log.contains("RDMA closed, left behind"));
    }
    assertThat(filesLeft()).isEmpty();
  }

  private List<Path> filesLeft() throws IOException {
    try (Stream<Path> files = Files.walk(temporary)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }
}
