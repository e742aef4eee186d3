package org.apache.hadoop.mapreduce.task.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.mapreduce.reduce.ReduceGate;
import io.rdmashuffle.mapreduce.reduce.SegmentServer.Answer;
import io.rdmashuffle.mapreduce.reduce.TestGates;
import io.rdmashuffle.transport.FallbackReason;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.io.IntWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plugin as Hadoop calls it. */
final class RdmaShuffleTest {
  private static final int MAPS = 5;

  @TempDir private Path folder;
  private ShuffleRig rig;

  @BeforeEach
  void open() {
    rig = new ShuffleRig(folder, MapOutputKeys.PIECE_BYTES);
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    try (ShuffleRig closing = rig) {
      assertThat(closing.blocksLeft()).isZero();
    }
  }

  @Test
  void segmentsComeByRdma() throws Exception {
    rig.maps(MAPS, 500);
    assertThat(run(TestGates.gate(rig.rdma, rig.sessionsClosed), rig.context()))
        .isEqualTo(rig.outputs().sums());
    assertThat(rig.reported("SEGMENTS_READ")).isEqualTo(MAPS);
    assertThat(rig.http().requests()).isEmpty();
    assertThat(rig.sessionsClosed).hasValue(1);
  }

  @Test
  void withoutADeviceItIsHadoopsShuffle() throws Exception {
    rig.maps(MAPS, 500);
    assertThat(run(TestGates.gateWithoutDevice(), rig.context())).isEqualTo(rig.outputs().sums());
    assertThat(rig.reported("TASKS_WITHOUT_RDMA")).isEqualTo(1);
    assertThat(rig.rdma.requests()).isEmpty();
    assertThat(rig.http().requests()).isNotEmpty();
  }

  @Test
  void mapsOfThisProcessAreReadByHadoopsShuffle() throws Exception {
    rig.conf.setNumMapTasks(0); // it ends before it reads any
    assertThat(run(TestGates.gate(rig.rdma, rig.sessionsClosed), rig.context(Map.of()))).isEmpty();
    assertThat(rig.rdma.requests()).isEmpty();
    assertThat(rig.sessionsClosed).hasValue(0);
  }

  @Test
  void aShuffleThatFailsClosesItsTransport() throws Exception {
    rig.maps(1, 500);
    rig.http().loseAll();
    rig.rdma.script((peer, key) -> new Answer.Refuse(FallbackReason.UNKNOWN_BLOCK));
    ReduceGate gate = TestGates.gate(rig.rdma, rig.sessionsClosed);
    assertThatThrownBy(() -> run(gate, rig.context())).isInstanceOf(Shuffle.ShuffleError.class);
    assertThat(rig.sessionsClosed).hasValue(1);
  }

  private static Map<String, Integer> run(
      ReduceGate gate, ShuffleConsumerPlugin.Context<Text, IntWritable> context) throws Exception {
    RdmaShuffle<Text, IntWritable> plugin = new RdmaShuffle<>(gate);
    plugin.init(context);
    Map<String, Integer> sums = ShuffleRig.sums(plugin.run());
    plugin.close();
    return sums;
  }
}
