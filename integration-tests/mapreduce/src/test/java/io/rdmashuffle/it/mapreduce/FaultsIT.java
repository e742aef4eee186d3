package io.rdmashuffle.it.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Jobs in which something goes wrong: the result is right all the same. */
@ExtendWith(SharedCluster.class)
final class FaultsIT {
  private static final String FAULTS = "org.apache.hadoop.mapreduce.task.reduce.";
  private static TestCluster cluster;

  @BeforeAll
  static void share(TestCluster shared) {
    cluster = shared;
  }

  @Test
  void aPortThatNobodyListensOnCostsNoAttempt() throws Exception {
    JobRun run = cluster.run(conf -> conf.setInt("mapreduce.shuffle.rdma.port.offset", 7));
    assertThatAllCameByHttpWithoutFailures(run);
    assertThat(run.rdma("HOSTS_FALLEN_BACK.connect-failed")).isPositive();
  }

  @Test
  void aSecretThatNodeManagersDoNotKnowIsRefused() throws Exception {
    long opened = cluster.nodes().total(Counter.CONNECTIONS_OPENED);
    JobRun run = cluster.run(conf -> plugin(conf, "WrongSecretShuffle"));
    assertThatAllCameByHttpWithoutFailures(run);
    assertThat(run.rdma("HOSTS_FALLEN_BACK.connect-failed")).isPositive();
    assertThat(cluster.nodes().total(Counter.CONNECTIONS_OPENED)).isEqualTo(opened);
  }

  @Test
  void aTaskWithoutDeviceUsesHadoopsShuffle() throws Exception {
    JobRun run = cluster.run(conf -> conf.set("mapreduce.shuffle.rdma.device", "mlx5_77"));
    assertThat(run.rdma("TASKS_WITHOUT_RDMA")).isEqualTo(TestCluster.REDUCES);
    assertThat(run.segmentsByRdma()).isZero();
    assertThat(run.hadoop(TaskCounter.FAILED_SHUFFLE)).isZero();
  }

  @Test
  void aLostMapOutputIsMadeAgain() throws Exception {
    JobRun run =
        cluster.run(
            conf -> {
              plugin(conf, "LostOutputShuffle");
              conf.setInt("mapreduce.job.reduces", 1); // another might have it registered by then
              conf.set("test.lost.output.folder", cluster.folder().toString());
              conf.setInt("mapreduce.reduce.shuffle.maxfetchfailures", 1);
              conf.setInt("mapreduce.reduce.shuffle.retry-delay.max.ms", 500);
              conf.setInt("mapreduce.reduce.shuffle.max-fetch-failures-notifications", 1);
            });
    assertThat(run.counters().findCounter(JobCounter.TOTAL_LAUNCHED_MAPS).getValue())
        .isGreaterThan(TestCluster.MAPS);
    assertThat(run.segmentsByRdma()).isPositive();
  }

  @Test
  void aReducerThatDiesInTheMiddleOfASegmentLeavesNothing() throws Exception {
    JobRun run =
        cluster.run(
            conf -> {
              plugin(conf, "DyingShuffle");
              conf.setLong("mapreduce.reduce.memory.totalbytes", 100_000);
            });
    assertThat(run.counters().findCounter(JobCounter.NUM_FAILED_REDUCES).getValue())
        .isEqualTo(TestCluster.REDUCES);
    assertThat(run.segmentsByRdma()).isEqualTo(TestCluster.SEGMENTS);
  }

  @Test
  void aReducerWhoseAdapterIsTakenAwayGoesOnByHttp() throws Exception {
    JobRun run =
        cluster.run(
            conf -> {
              plugin(conf, "LostAdapterShuffle");
              conf.set(
                  "mapreduce.reduce.env",
                  "SOFTHCA_FAULTS_FILE=" + cluster.folder().resolve("faults-%p"));
            });
    assertThat(run.segmentsByRdma()).as("before the loss").isEqualTo(TestCluster.REDUCES);
    assertThat(run.segmentsByHttp()).isEqualTo(TestCluster.SEGMENTS - TestCluster.REDUCES);
    assertThat(run.hadoop(TaskCounter.FAILED_SHUFFLE)).isZero();
    assertThat(run.counters().findCounter(JobCounter.NUM_FAILED_REDUCES).getValue()).isZero();
    assertThat(cluster.logLines(run, "no RDMA in this task"))
        .hasSize(TestCluster.REDUCES)
        .allMatch(line -> line.contains(" is lost: DEVICE_FATAL"));
  }

  private static void plugin(Configuration conf, String name) {
    conf.set(TestCluster.PLUGIN_KEY, FAULTS + name);
  }

  static void assertThatAllCameByHttpWithoutFailures(JobRun run) {
    assertThat(run.segmentsByRdma()).isZero();
    assertThat(run.segmentsByHttp()).isEqualTo(TestCluster.SEGMENTS);
    assertThat(run.rdma("HOSTS_FALLEN_BACK")).isPositive();
    assertThat(run.hadoop(TaskCounter.FAILED_SHUFFLE)).isZero();
    assertThat(run.counters().findCounter(JobCounter.NUM_FAILED_REDUCES).getValue()).isZero();
  }
}
