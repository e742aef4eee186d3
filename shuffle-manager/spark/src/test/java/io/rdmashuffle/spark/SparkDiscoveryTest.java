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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SparkDiscoveryTest {
  private static final Peer PEER = new Peer("4", "host", 7337);

  private final ScriptedEngine engine = new ScriptedEngine();
  private final PeerExecutor executor = new PeerExecutor(1);
  private ExecutorPorts.Place place = new ExecutorPorts.At(4040);
  private final SparkDiscovery discovery =
      new SparkDiscovery(() -> engine, peer -> place, executor);

  @BeforeEach
  void open() throws Exception {
    executor.open();
  }

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
    place = new ExecutorPorts.Gone();
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
  void anExecutorThatIsNotKnownYetMayHaveRdma() throws Exception {
    place = new ExecutorPorts.Unknown();
    assertThat(discover()).isInstanceOf(Invitation.NotYet.class);
    assertThat(engine.calls).isEmpty();
  }

  private final Map<String, Integer> table = new HashMap<>(Map.of("1", 11, "2", 22));
  private final AtomicLong questions = new AtomicLong();
  private final AtomicLong nowNs = new AtomicLong(-5);
  private Runnable meanwhile = () -> {};
  private final ExecutorPorts ports = new ExecutorPorts(this::askDriver, nowNs::get);

  private Map<String, Integer> askDriver() {
    questions.incrementAndGet();
    Map<String, Integer> answer = Map.copyOf(table);
    meanwhile.run();
    return answer;
  }

  @Test
  void driverIsAskedForPortsOnceForAllAndAtMostOnceASecondForThoseThatAreGone() {
    assertThat(ports.find("1")).isEqualTo(new ExecutorPorts.At(11));
    assertThat(ports.find("2")).isEqualTo(new ExecutorPorts.At(22));
    nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(999));
    assertThat(ports.find("3")).isInstanceOf(ExecutorPorts.Unknown.class);
    assertThat(questions).hasValue(1);
    nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(1));
    assertThat(ports.find("3")).isInstanceOf(ExecutorPorts.Gone.class);
    assertThat(questions).hasValue(2);
  }

  @Test
  void anExecutorThatRegisteredSinceTheDriverWasAskedIsNotTakenForGone() {
    assertThat(ports.find("1")).isEqualTo(new ExecutorPorts.At(11));
    nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(500));
    table.put("3", 33);
    assertThat(ports.find("3")).isInstanceOf(ExecutorPorts.Unknown.class);
    nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(500));
    assertThat(ports.find("3")).isEqualTo(new ExecutorPorts.At(33));
  }

  @Test
  void theFirstQuestionAboutAnExecutorThatIsTwoSecondsOldFindsIt() {
    assertThat(ports.find("1")).isEqualTo(new ExecutorPorts.At(11));
    table.put("3", 33);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(2));
    assertThat(ports.find("3")).isEqualTo(new ExecutorPorts.At(33));
  }

  @Test
  void anExecutorThatRegistersWhileTheDriverAnswersIsAskedForAgain() {
    meanwhile =
        () -> {
          nowNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(300));
          table.put("3", 33);
        };
    assertThat(ports.find("1")).isEqualTo(new ExecutorPorts.At(11));
    assertThat(ports.find("3")).isInstanceOf(ExecutorPorts.Unknown.class);
    nowNs.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(ports.find("3")).isEqualTo(new ExecutorPorts.At(33));
  }
}
