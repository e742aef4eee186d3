package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.OwnerTransport;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.metrics2.impl.MetricsSystemImpl;
import org.apache.hadoop.test.MetricsAsserts;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class NodeMetricsTest {
  private static final String NAME = "RdmaShuffleMetrics";
  private final MetricsSystemImpl system = new MetricsSystemImpl("NodeMetricsTest");

  /** A NodeManager that serves HTTP only. */
  private record Off(String problem, int jobs) implements NodeMetrics.Status {
    @Override
    public OwnerTransport transport() {
      return null;
    }
  }

  @BeforeEach
  void start() {
    system.init("NodeMetricsTest");
  }

  @AfterEach
  void stop() {
    system.stop();
    system.shutdown();
  }

  @Test
  void whatKeepsRdmaDownIsTold() {
    try (NodeMetrics metrics = NodeMetrics.register(system, new Off("port in use", 3))) {
      MetricsRecordBuilder record = MetricsAsserts.getMetrics(metrics);
      MetricsAsserts.assertGauge("RdmaUp", 0, record);
      MetricsAsserts.assertGauge("RdmaJobs", 3, record);
      assertThat(system.getSource(NAME)).isSameAs(metrics);
    }
    assertThat(system.getSource(NAME)).isNull();
  }

  @Test
  void aSecondNodeManagerInTheProcessDoesWithout() {
    try (NodeMetrics first = NodeMetrics.register(system, new Off("", 0))) {
      NodeMetrics.register(system, new Off("", 0)).close();
      assertThat(system.getSource(NAME)).isSameAs(first);
    }
  }
}
