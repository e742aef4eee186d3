package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.ChildJvm;
import io.rdmashuffle.transport.testing.SoftAdapter;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A queue pair that the adapter does not destroy, as after the kernel has taken it away. */
final class KeptQueuePairTest {
  @BeforeAll
  static void requireSoft() {
    SoftAdapter.require();
  }

  @Test
  void closingItFailsEachTimeAndItStaysOpen() throws Exception {
    ProcessBuilder command = new ProcessBuilder(ChildJvm.command(KeptQueuePairProgram.class));
    command.environment().put("SOFTHCA_FAULTS", "destroy_qp:errno=EIO,count=0");
    Process child = command.redirectError(ProcessBuilder.Redirect.DISCARD).start();

    List<String> lines =
        child.inputReader().lines().filter(line -> line.matches("[a-z ]+: .*")).toList();

    String refused = "java\\.lang\\.IllegalStateException: ibv_destroy_qp to .*: EIO \\(5\\)";
    assertThat(lines).hasSize(6);
    assertThat(lines.get(0)).matches("queue pair: " + refused);
    assertThat(lines.get(1)).isEqualTo("receive: SUCCESS");
    assertThat(lines.get(2))
        .matches("queue pair again: .*IllegalStateException: ibv_destroy_qp .*");
    assertThat(lines.get(3))
        .matches("id: .*IllegalStateException: rdma_destroy_id .*: EIO \\(5\\)");
    assertThat(lines.get(4)).matches("id again: .*IllegalStateException: rdma_destroy_id .*");
    assertThat(lines.get(5)).matches("domain: .*IllegalStateException: .*: EBUSY \\(16\\)");
  }
}
