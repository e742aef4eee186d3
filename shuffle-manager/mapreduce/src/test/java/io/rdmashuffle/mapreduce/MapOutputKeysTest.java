package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.wire.BlockKey;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MapOutputKeysTest {
  private static final JobID JOB = new JobID("1700000000000", 7);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "attempt_1700000000000_0007_m_000000_0",
        "attempt_1700000000000_0007_m_000012_1003",
        "attempt_1700000000000_0007_m_2147483647_1048575"
      })
  void anAttemptComesBackAsItWas(String name) {
    TaskAttemptID attempt = TaskAttemptID.forName(name);
    assertThat(MapOutputKeys.isNameable(attempt)).isTrue();

    BlockKey key = MapOutputKeys.keyOf(attempt, 3);

    assertThat(MapOutputKeys.attemptOf(JOB, key)).isEqualTo(attempt).hasToString(name);
    assertThat(MapOutputKeys.reduceOf(key)).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "attempt_1700000000000_0007_r_000000_0",
        "attempt_1700000000000_0007_m_000000_1048576"
      })
  void whatHasNoNameIsRefused(String name) {
    TaskAttemptID attempt = TaskAttemptID.forName(name);

    assertThat(MapOutputKeys.isNameable(attempt)).isFalse();
    assertThatThrownBy(() -> MapOutputKeys.keyOf(attempt, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name);
  }

  @Test
  void keysThatNoReducerSendsNameNothing() {
    BlockKey[] odd = {
      new BlockKey(1, 0, 0, 1), new BlockKey(0, 0, 0, 2), new BlockKey(0, Long.MAX_VALUE, 0, 1)
    };
    for (BlockKey key : odd) {
      assertThatThrownBy(() -> MapOutputKeys.attemptOf(JOB, key))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("names no segment");
    }
  }

  @Test
  void theLastReduceThatAKeyCouldNameIsRefused() {
    TaskAttemptID attempt = TaskAttemptID.forName("attempt_1700000000000_0007_m_000000_0");
    assertThatThrownBy(() -> MapOutputKeys.keyOf(attempt, Integer.MAX_VALUE))
        .isInstanceOf(ArithmeticException.class);
  }
}
