package io.rdmashuffle.it.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.mapreduce.nm.RdmaShuffleHandler;
import java.util.List;
import org.apache.hadoop.mapreduce.JobCounter;
import org.apache.hadoop.mapreduce.TaskCounter;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/**
 * Both NodeManagers lose their adapters. For a minute, so this comes after all other tests; on a
 * slow machine the job may outlast that, and its last segments come by RDMA again.
 */
@Order(Integer.MAX_VALUE)
@ExtendWith(SharedCluster.class)
final class LostNodesIT {
  private static TestCluster cluster;

  @BeforeAll
  static void share(TestCluster shared) {
    cluster = shared;
  }

  @Test
  void nodesWhoseAdaptersAreTakenAwayGoOnByHttp() throws Exception {
    List<RdmaShuffleHandler> nodes = cluster.nodes().handlers();
    assertThat(nodes).hasSize(2).allMatch(node -> node.transport() != null);
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger(AdapterLifecycle.class));
    try {
      cluster.nodes().takeAdaptersAway();
      JobRun run = cluster.run(conf -> {});

      assertThat(run.segmentsByHttp()).isPositive();
      assertThat(run.rdma("HOSTS_FALLEN_BACK.connect-failed")).isPositive();
      assertThat(run.hadoop(TaskCounter.FAILED_SHUFFLE)).isZero();
      assertThat(run.counters().findCounter(JobCounter.NUM_FAILED_REDUCES).getValue()).isZero();
    } finally {
      log.stopCapturing();
    }
    assertThat(log.getOutput().lines().filter(line -> line.contains("no RDMA in ")))
        .as("one line of each")
        .hasSize(2)
        .allMatch(LostNodesIT::tellsOfLoss);
  }

  private static boolean tellsOfLoss(String text) {
    return text.contains(" is lost: DEVICE_FATAL");
  }
}
