package io.rdmashuffle.it.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.util.VersionInfo;
import org.junit.jupiter.api.Test;

/** One job on the Hadoop of the module that runs this; the jar is the same. */
final class OlderHadoopIT {
  @Test
  void everySegmentComesByRdma() throws Exception {
    String version = System.getProperty("it.hadoop");
    assertThat(VersionInfo.getVersion()).isEqualTo(version);
    try (TestCluster cluster = TestCluster.start("hadoop-" + version)) {
      JobRun run = cluster.run(conf -> conf.setBoolean("mapreduce.map.output.compress", true));
      assertThat(run.segmentsByRdma()).isEqualTo(TestCluster.SEGMENTS);
      assertThat(run.segmentsByHttp()).isZero();
      assertThat(run.hadoop(TaskCounter.FAILED_SHUFFLE)).isZero();
    }
  }
}
