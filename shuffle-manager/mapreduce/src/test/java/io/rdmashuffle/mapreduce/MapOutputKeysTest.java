package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.wire.BlockKey;
import java.nio.file.Path;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MapOutputKeysTest {
  private static final JobID JOB = new JobID("1700000000000", 7);
  private static final TaskAttemptID ATTEMPT =
      TaskAttemptID.forName("attempt_1700000000000_0007_m_000000_0");

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

    BlockKey key = MapOutputKeys.pieceKeyOf(attempt, 3, 5);

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
    assertThatThrownBy(() -> MapOutputKeys.pieceKeyOf(attempt, 0, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name);
  }

  @Test
  void keysThatNoReducerSendsNameNothing() {
    BlockKey[] odd = {new BlockKey(0, 0, 0, 2), new BlockKey(0, Long.MAX_VALUE, 0, 1)};
    for (BlockKey key : odd) {
      assertThatThrownBy(() -> MapOutputKeys.attemptOf(JOB, key))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("names no segment");
    }
  }

  @Test
  void theLastReduceThatAKeyCouldNameIsRefused() {
    TaskAttemptID attempt = TaskAttemptID.forName("attempt_1700000000000_0007_m_000000_0");
    assertThatThrownBy(() -> MapOutputKeys.lengthKeyOf(attempt, Integer.MAX_VALUE))
        .isInstanceOf(ArithmeticException.class);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 1_048_575, 1_048_576, 1_048_577, 3_000_000_000L})
  void piecesAreTheSegmentInOrder(long bytes) {
    BlockLocation segment = segment(bytes);
    long covered = 0;
    int pieces = 0;
    for (BlockLocation piece = piece(segment, 0); piece != null; piece = piece(segment, ++pieces)) {
      assertThat(piece.offsetBytes()).isEqualTo(segment.offsetBytes() + covered);
      assertThat(piece.attribute()).isEqualTo(segment.attribute());
      covered += piece.bytes();
    }
    assertThat(covered).isEqualTo(bytes);
    assertThat(pieces).isEqualTo((int) Math.max(1, (bytes + 1_048_575) / 1_048_576));
    assertThat(piece(segment, Integer.MAX_VALUE - 1)).isNull();
  }

  @Test
  void theLengthKeyNamesAnEmptyBlockThatTellsTheLength() {
    BlockLocation length =
        MapOutputKeys.locationOf(MapOutputKeys.lengthKeyOf(ATTEMPT, 3), segment(12_345));
    assertThat(length.bytes()).isZero();
    assertThat(length.attribute()).isEqualTo(12_345);
  }

  private static BlockLocation piece(BlockLocation segment, int piece) {
    return MapOutputKeys.locationOf(MapOutputKeys.pieceKeyOf(ATTEMPT, 3, piece), segment);
  }

  private static BlockLocation segment(long bytes) {
    return new BlockLocation(new OutputFile(Path.of("file.out"), 4_000_000_000L), 77, bytes, 99);
  }
}
