package io.rdmashuffle.it.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.mapreduce.nm.RdmaShuffleHandler;
import java.util.List;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** Both NodeManagers lose their adapters. For a minute, so this comes after all other tests. */
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

      FaultsIT.assertThatAllCameByHttpWithoutFailures(run);
      assertThat(run.rdma("HOSTS_FALLEN_BACK.connect-failed")).isPositive();
    } finally {
      log.stopCapturing();
    }
    assertThat(nodes).extracting(RdmaShuffleHandler::problem).allMatch(LostNodesIT::tellsOfLoss);
    assertThat(log.getOutput().lines().filter(line -> line.contains("no RDMA in ")))
        .as("one line of each")
        .hasSize(2)
        .allMatch(LostNodesIT::tellsOfLoss);
  }

  private static boolean tellsOfLoss(String text) {
    return text.contains(" is lost: DEVICE_FATAL");
  }
}
