package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.core.adapter.AdapterLifecycle.Opener;
import io.rdmashuffle.transport.ReadingTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.JobID;
import org.apache.hadoop.mapreduce.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskID;
import org.apache.hadoop.mapreduce.TaskType;
import org.junit.jupiter.api.Test;

final class ReduceGateTest {
  private static final Duration SOON = Duration.ofMillis(200);
  private static final SecretKey SECRET = new SecretKeySpec(new byte[20], "HmacSHA1");
  private static final TaskAttemptID REDUCE =
      new TaskAttemptID(new TaskID(new JobID("test", 1), TaskType.REDUCE, 0), 0);

  private final JobConf conf = new JobConf(false);
  private final Map<String, Long> counted = new ConcurrentHashMap<>();
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();

  @Test
  void aTaskWithADeviceUsesIt() throws Exception {
    try (ReduceSession session = gate(this::reader).open(task(SECRET)).orElseThrow()) {
      assertThat(session.admits("node:13562")).isTrue();
      assertThat(closed).hasValue(0);
    }
    assertThat(closed).hasValue(1);
    assertThat(counted).isEmpty();
  }

  @Test
  void nothingIsOpenedWhereItIsSwitchedOff() throws Exception {
    conf.set("mapreduce.shuffle.rdma.mode", "off");
    assertThatStockIsUsed(task(SECRET));
    assertThat(opened).hasValue(0);
  }

  @Test
  void nothingIsOpenedForMapsOfThisProcess() {
    assertThat(gate(this::reader).mapsAreLocal(task(null))).isEmpty();
    assertThat(opened).hasValue(0);
  }

  @Test
  void aShuffleThatIsToBeEncryptedStaysHadoops() throws Exception {
    conf.setBoolean("mapreduce.shuffle.ssl.enabled", true);
    assertThatStockIsUsed(task(SECRET));
    assertThat(opened).hasValue(0);
  }

  @Test
  void aTaskWithoutSecretUsesHadoopsShuffle() throws Exception {
    assertThatStockIsUsed(task(null));
    assertThat(opened).hasValue(0);
  }

  @Test
  void aBadSettingCostsRdmaAndNotTheTask() throws Exception {
    conf.set("mapreduce.shuffle.rdma.read.window", "many");
    assertThatStockIsUsed(task(SECRET));
  }

  @Test
  void aMissingLibraryCostsRdmaAndNotTheTask() throws Exception {
    assertThatStockIsUsed(
        task(SECRET),
        () -> {
          throw new TransportException(Kind.CONFIG, "librdmacm.so.1: cannot open");
        });
    assertThatStockIsUsed(
        task(SECRET),
        () -> {
          throw new UnsatisfiedLinkError("wrong architecture");
        });
  }

  @Test
  void aDeviceThatHangsIsGivenUpAndClosedWhenItOpensAfterAll() throws Exception {
    CountDownLatch hangs = new CountDownLatch(1);
    CountDownLatch late = new CountDownLatch(1);
    assertThatStockIsUsed(
        task(SECRET),
        () -> {
          awaitUninterrupted(hangs);
          return TestGates.transport(null, late::countDown);
        });
    hangs.countDown();
    assertThat(late.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void anInterruptedTaskDoesNotWaitForTheDevice() {
    CountDownLatch hangs = new CountDownLatch(1);
    Thread.currentThread().interrupt();
    ReduceGate gate =
        gate(
            () -> {
              awaitUninterrupted(hangs);
              return reader();
            });
    assertThatThrownBy(() -> gate.open(task(SECRET))).isInstanceOf(InterruptedException.class);
    hangs.countDown();
  }

  private void assertThatStockIsUsed(ReduceGate.Task task) throws Exception {
    assertThatStockIsUsed(task, this::reader);
  }

  private void assertThatStockIsUsed(ReduceGate.Task task, Opener<ReadingTransport> opener)
      throws Exception {
    counted.clear();
    Optional<ReduceSession> session = gate(opener).open(task);
    assertThat(session).isEmpty();
    assertThat(counted).containsExactly(Map.entry(ShuffleCounters.TASKS_WITHOUT_RDMA, 1L));
  }

  private ReduceGate gate(Opener<ReadingTransport> opener) {
    return TestGates.gate(
        SOON,
        () -> {
          opened.incrementAndGet();
          return opener.open();
        });
  }

  private ReduceGate.Task task(SecretKey secret) {
    return new ReduceGate.Task(
        conf, REDUCE, secret, (name, n) -> counted.merge(name, n, Long::sum));
  }

  private ReadingTransport reader() {
    return TestGates.transport(new SegmentServer(1000), closed::incrementAndGet);
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
