package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class ReduceSessionTest {
  private static final TaskAttemptID ATTEMPT =
      TaskAttemptID.forName("attempt_1700000000000_0007_m_000003_0");
  private static final TaskAttemptID OTHER =
      TaskAttemptID.forName("attempt_1700000000000_0007_m_000003_1");

  private final SegmentServer server = new SegmentServer(1000);
  private final ReduceSession session =
      TestGates.session(server, 1000, (name, count) -> {}, new AtomicInteger());

  @AfterEach
  void close() {
    session.close();
    server.close();
  }

  @Test
  void aCorruptSegmentIsNotAskedForByRdmaAgain() {
    session.corrupt("node", ATTEMPT);
    assertThat(session.isHttpOnly(ATTEMPT)).isTrue();
    assertThat(session.isHttpOnly(OTHER)).isFalse();
    assertThat(session.admits("node")).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"UNKNOWN_BLOCK", "FILE_CHANGED", "TOO_LARGE", "CORRUPT_RETRY"})
  void aRefusalThatStaysLeavesTheSegmentToHttp(FallbackReason reason) {
    session.refused(ATTEMPT, reason);
    assertThat(session.isHttpOnly(ATTEMPT)).isTrue();
    assertThat(session.isHttpOnly(OTHER)).isFalse();
  }

  @ParameterizedTest
  @EnumSource(
      names = {
        "NO_MEMORY",
        "OVERLOADED",
        "OWNER_NO_MEMORY",
        "READ_REFUSED",
        "TRANSFER_FAILED",
        "STOPPING"
      })
  void aRefusalThatPassesDoesNot(FallbackReason reason) {
    session.refused(ATTEMPT, reason);
    assertThat(session.isHttpOnly(ATTEMPT)).isFalse();
  }
}
