package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.api.ShuffleDataIO;
import org.apache.spark.shuffle.api.ShuffleDriverComponents;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;
import org.apache.spark.shuffle.sort.io.LocalDiskShuffleDataIO;
import org.junit.jupiter.api.Test;

final class CommitTapTest {
  private final List<String> events = new ArrayList<>();
  private boolean failing;

  private final CommitTap tap =
      new CommitTap(
          new Components(),
          (shuffle, map, lengths) ->
              events.add(shuffle + "/" + map + " " + Arrays.toString(lengths)));

  @Test
  void commitOfAllPartitionsIsReportedAfterItHappened() throws IOException {
    tap.createMapOutputWriter(1, 2, 3).commitAllPartitions(new long[0]);
    assertThat(events).containsExactly("committed", "1/2 [4, 5, 6]");
  }

  @Test
  void singleSpillIsReportedWithTheLengthsThatCounted() throws IOException {
    long[] lengths = {1, 2, 3};
    tap.createSingleFileMapOutputWriter(1, 2)
        .orElseThrow()
        .transferMapSpillFile(new File("spill"), lengths, new long[0]);
    assertThat(events).containsExactly("transferred", "1/2 [7, 2, 3]");
  }

  @Test
  void failedOrAbortedCommitIsNotReported() throws IOException {
    failing = true;
    ShuffleMapOutputWriter writer = tap.createMapOutputWriter(1, 2, 3);
    assertThatThrownBy(() -> writer.commitAllPartitions(new long[0])).hasMessage("scripted");
    writer.abort(new IOException());
    SingleSpillShuffleMapOutputWriter single =
        tap.createSingleFileMapOutputWriter(1, 2).orElseThrow();
    assertThatThrownBy(() -> single.transferMapSpillFile(new File("x"), new long[1], new long[0]))
        .hasMessage("scripted");
    assertThat(events).containsExactly("aborted");
  }

  @Test
  void configuredDataIoIsWrappedAndTheApplicationsConfigurationIsLeftAlone() {
    SparkConf conf =
        new SparkConf(false).set("spark.shuffle.sort.io.plugin.class", Io.class.getName());
    SparkConf injected = RdmaShuffleDataIO.inject(conf);
    assertThat(injected.get("spark.shuffle.sort.io.plugin.class"))
        .isEqualTo(RdmaShuffleDataIO.class.getName());
    assertThat(conf.get("spark.shuffle.sort.io.plugin.class")).isEqualTo(Io.class.getName());
    assertThatThrownBy(() -> new RdmaShuffleDataIO(injected).driver()).hasMessage("driver of Io");
  }

  @Test
  void sparksOwnDataIoIsWrappedByDefault() {
    SparkConf injected = RdmaShuffleDataIO.inject(new SparkConf(false));
    assertThat(new RdmaShuffleDataIO(injected).driver().getClass())
        .isEqualTo(new LocalDiskShuffleDataIO(injected).driver().getClass());
  }

  @Test
  void unusableDataIoIsNamed() {
    SparkConf conf =
        new SparkConf(false).set("spark.shuffle.sort.io.plugin.class", "java.lang.String");
    assertThatThrownBy(() -> new RdmaShuffleDataIO(RdmaShuffleDataIO.inject(conf)))
        .hasMessage("spark.shuffle.sort.io.plugin.class=java.lang.String cannot be used");
  }

  /** What a user may have configured. */
  public static final class Io implements ShuffleDataIO {
    public Io(SparkConf conf) {
      assertThat(conf).isNotNull();
    }

    @Override
    public ShuffleExecutorComponents executor() {
      throw new UnsupportedOperationException("executor of Io");
    }

    @Override
    public ShuffleDriverComponents driver() {
      throw new UnsupportedOperationException("driver of Io");
    }
  }

  private void happen(String event) throws IOException {
    if (failing) {
      throw new IOException("scripted");
    }
    events.add(event);
  }

  private final class Components implements ShuffleExecutorComponents {
    @Override
    public void initializeExecutor(String appId, String executorId, Map<String, String> extra) {}

    @Override
    public ShuffleMapOutputWriter createMapOutputWriter(int shuffle, long map, int partitions) {
      return new ShuffleMapOutputWriter() {
        @Override
        public ShufflePartitionWriter getPartitionWriter(int partition) {
          throw new UnsupportedOperationException();
        }

        @Override
        public MapOutputCommitMessage commitAllPartitions(long[] checksums) throws IOException {
          happen("committed");
          return MapOutputCommitMessage.of(new long[] {4, 5, 6});
        }

        @Override
        public void abort(Throwable cause) {
          events.add("aborted");
        }
      };
    }

    @Override
    public Optional<SingleSpillShuffleMapOutputWriter> createSingleFileMapOutputWriter(
        int shuffle, long map) {
      return Optional.of(
          (spill, lengths, checksums) -> {
            happen("transferred");
            lengths[0] = 7; // an earlier attempt has won
          });
    }
  }
}
