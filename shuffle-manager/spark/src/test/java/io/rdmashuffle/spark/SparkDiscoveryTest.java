package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.spark.runtime.InvitationCodec;
import io.rdmashuffle.spark.runtime.PeerExecutor;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class SparkDiscoveryTest {
  private static final Peer PEER = new Peer("4", "host", 7337);

  private final ScriptedEngine engine = new ScriptedEngine();
  private final PeerExecutor executor = new PeerExecutor(1);
  private OptionalInt port = OptionalInt.of(4040);
  private final SparkDiscovery discovery = new SparkDiscovery(() -> engine, peer -> port, executor);

  @AfterEach
  void close() {
    executor.close();
  }

  private Invitation discover() throws Exception {
    return discovery.discover(PEER).get(10, TimeUnit.SECONDS);
  }

  @Test
  void peerIsAskedAtItsOwnPortForTheReservedBlock() throws Exception {
    Invitation.Ticket ticket =
        new Invitation.Ticket(List.of(new InetSocketAddress("10.0.0.1", 1)), 5, new byte[] {9});
    engine.answer = InvitationCodec.encode(ticket);
    assertThat(((Invitation.Ticket) discover()).credentialId()).isEqualTo(5);
    assertThat(engine.calls)
        .containsExactly(
            new ScriptedEngine.Call("host", 4040, "4", List.of("shuffle_0_0_2147483647"), false));
    assertThat(engine.callers.get(0)).isNotEqualTo(Thread.currentThread());
  }

  @Test
  void executorThatIsGoneHasNoRdma() throws Exception {
    port = OptionalInt.empty();
    assertThat(((Invitation.None) discover()).reason()).isEqualTo(FallbackReason.PEER_WITHOUT_RDMA);
    assertThat(engine.calls).isEmpty();
  }

  @Test
  void foreignAnswerAndFailureAreErrors() {
    engine.answer = new byte[] {1, 2, 3};
    assertThatThrownBy(this::discover)
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
    engine.failing.add(BlockNames.INVITATION);
    assertThatThrownBy(this::discover).hasRootCauseMessage("scripted");
    engine.failing.clear();
    engine.answer = InvitationCodec.encode(new Invitation.None(FallbackReason.NO_DEVICE, "x"));
    engine.thrownAfterFirst = new IllegalStateException("after the answer");
    assertThat(discovery.discover(PEER)).succeedsWithin(10, TimeUnit.SECONDS);
  }

  @Test
  void closedExecutorAnswersAtOnce() {
    executor.close();
    CompletableFuture<Invitation> answer = discovery.discover(PEER);
    assertThat(answer).isCompletedExceptionally();
  }

  @Test
  void driverIsAskedForPortsOnceForAllAndSeldomForThoseThatAreGone() {
    Map<String, Integer> table = new HashMap<>(Map.of("1", 11, "2", 22));
    AtomicLong questions = new AtomicLong();
    AtomicLong nowNs = new AtomicLong(-5);
    ExecutorPorts ports =
        new ExecutorPorts(
            () -> {
              questions.incrementAndGet();
              return Map.copyOf(table);
            },
            nowNs::get);
    assertThat(ports.portOf("1")).hasValue(11);
    assertThat(ports.portOf("2")).hasValue(22);
    assertThat(ports.portOf("3")).isEmpty();
    assertThat(questions).hasValue(1);
    table.put("3", 33);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(10));
    assertThat(ports.portOf("3")).hasValue(33);
    assertThat(questions).hasValue(2);
  }
}
