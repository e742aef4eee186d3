package io.rdmashuffle.it.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.benchmarks.mapreduce.TeraJobs;
import io.rdmashuffle.benchmarks.workload.JobResult;
import io.rdmashuffle.transport.Counter;
import java.util.function.ToLongFunction;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.mapreduce.TaskReport;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Jobs in which all goes well: the result is right, and every segment came by RDMA. */
@ExtendWith(SharedCluster.class)
final class JobsIT {
  private static final int SORTED_MEGABYTES = 20;
  private static TestCluster cluster;

  @BeforeAll
  static void share(TestCluster shared) {
    cluster = shared;
  }

  @Test
  void hadoopsOwnShuffleCountsRight() throws Exception {
    JobRun run =
        cluster.run(
            conf ->
                conf.set(
                    TestCluster.PLUGIN_KEY, "org.apache.hadoop.mapreduce.task.reduce.Shuffle"));
    assertThat(run.segmentsByRdma()).isZero();
    assertThat(run.hadoop(TaskCounter.SHUFFLED_MAPS)).isEqualTo(TestCluster.SEGMENTS);
  }

  @Test
  void everySegmentComesByRdma() throws Exception {
    long windows = cluster.nodes().total(Counter.OWNER_BLOCKS_WINDOW);
    JobRun run = cluster.run(conf -> {});
    assertThatAllCameByRdma(run);
    assertThat(run.rdma("BYTES_READ")).isPositive();
    assertThat(run.rdma("BYTES_READ") + run.rdma("BYTES_STAGED") + run.rdma("BYTES_INLINE"))
        .isEqualTo(run.hadoop(TaskCounter.REDUCE_SHUFFLE_BYTES));
    assertThat(cluster.nodes().total(Counter.OWNER_BLOCKS_WINDOW)).isGreaterThan(windows);
  }

  @Test
  void compressedAndEncryptedSegmentsComeByRdma() throws Exception {
    assertThatAllCameByRdma(
        cluster.run(
            conf -> {
              conf.setBoolean("mapreduce.map.output.compress", true);
              conf.setBoolean("mapreduce.job.encrypted-intermediate-data", true);
            }));
  }

  @Test
  void segmentsThatMemoryCannotHoldGoToDisk() throws Exception {
    JobRun run =
        cluster.run(
            conf -> {
              conf.setLong("mapreduce.reduce.memory.totalbytes", 100_000);
              conf.setBoolean("mapreduce.map.output.compress", true);
              conf.set(
                  "mapreduce.map.output.compress.codec",
                  "org.apache.hadoop.io.compress.SnappyCodec");
            });
    assertThatAllCameByRdma(run);
    assertThat(cluster.logLines(run, "Shuffling to disk since")).hasSize(TestCluster.SEGMENTS);
  }

  @Test
  void reducersThatStartBeforeTheMapsEndGetEverySegment() throws Exception {
    JobRun run =
        cluster.run(
            conf -> {
              conf.setFloat("mapreduce.job.reduce.slowstart.completedmaps", 0.1f);
              conf.setInt("mapreduce.job.running.map.limit", 1); // one after another
            });
    assertThatAllCameByRdma(run);
    long lastMapEnded = times(run, TaskType.MAP, TaskReport::getFinishTime).max().getAsLong();
    assertThat(times(run, TaskType.REDUCE, TaskReport::getStartTime).max().getAsLong())
        .as("when the last reducer started")
        .isLessThan(lastMapEnded);
  }

  private static LongStream times(JobRun run, TaskType type, ToLongFunction<TaskReport> time)
      throws Exception {
    return Stream.of(run.job().getTaskReports(type)).mapToLong(time);
  }

  @Test
  void aTeraSortByRdmaLeavesEveryRecordInItsPlace() throws Exception {
    TeraJobs jobs = new TeraJobs(cluster.conf(), cluster.path("tera")).onLocalFiles();
    jobs.generate(SORTED_MEGABYTES);
    JobResult sorted = jobs.sort("sorted", TeraJobs.PLUGIN);
    assertThat(sorted.digest).as("out of order, or other records").isEqualTo(jobs.digestOfInput());
    assertThat(sorted.blocks).containsEntry("http", 0L);
    assertThat(sorted.blocks.values().stream().mapToLong(Long::longValue).sum())
        .isEqualTo(sorted.engineBlocks)
        .isPositive();
    assertThat(sorted.bytes.get("read")).isGreaterThan(SORTED_MEGABYTES * 500_000L);
    cluster.awaitNothingIsLeft();
  }

  private static void assertThatAllCameByRdma(JobRun run) {
    assertThat(run.segmentsByRdma()).isEqualTo(TestCluster.SEGMENTS);
    assertThat(run.segmentsByHttp()).isZero();
    assertThat(run.rdma("HOSTS_FALLEN_BACK")).isZero();
    assertThat(run.hadoop(TaskCounter.FAILED_SHUFFLE)).isZero();
  }
}
