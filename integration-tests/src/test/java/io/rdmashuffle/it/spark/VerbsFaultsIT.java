package io.rdmashuffle.it.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.it.app.RoundsResult;
import io.rdmashuffle.transport.testing.HostCommands;
import java.io.IOException;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * What a kernel does to the adapter under a running job, which {@code -Dit.device} names: every
 * round gives the same result, and no task fails. Needs root and a machine of its own, where the
 * adapter's interface is one end of a pair and {@code cable} the other.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class VerbsFaultsIT {
  private static final int MEGABYTES = 6;
  private static final int EXECUTORS = 2;
  private final String device = System.getProperty("it.device");

  private SubmittedRounds start(String name, int rounds) throws IOException {
    return new SubmittedRounds(name, rounds, EXECUTORS)
        .set("spark.shuffle.rdma.device", device)
        .set("spark.shuffle.rdma.connect.timeout", "20s")
        .set("spark.shuffle.rdma.discovery.timeout", "20s")
        .set("spark.shuffle.rdma.request.timeout", "10s")
        .set("spark.shuffle.rdma.locate.timeout", "5s")
        .start(MEGABYTES);
  }

  @Test
  @Order(1)
  void aLinkThatGoesDownAndComesBackCostsNoTask() throws Exception {
    int rounds = 14;
    try (SubmittedRounds running = start("verbs-link", rounds)) {
      running.awaitRound(2);
      HostCommands.run("ip link set cable down");
      running.awaitRound(4);
      HostCommands.run("ip link set cable up");

      RoundsResult result = running.finish();

      FaultsIT.assertSameResults(result, rounds);
      assertThat(result.taskFailures).isEmpty();
      assertThat(result.fallbacks).as("the link was down").isNotEmpty();
      FaultsIT.assertRdmaIsBack(result);
    }
  }

  /** The command waits for the executors, which have the device open; the adapter is gone then. */
  @Test
  @Order(2)
  void anAdapterThatIsTakenAwayCostsNoTask() throws Exception {
    int rounds = 6;
    Process deletion;
    try (SubmittedRounds running = start("verbs-delete", rounds)) {
      running.awaitRound(2);
      deletion = HostCommands.start("rdma link delete " + device);

      RoundsResult result = running.finish();

      FaultsIT.assertSameResults(result, rounds);
      assertThat(result.taskFailures).isEmpty();
      assertThat(result.fallbacks).isNotEmpty();
    }
    HostCommands.awaitSuccess(deletion);
  }
}
