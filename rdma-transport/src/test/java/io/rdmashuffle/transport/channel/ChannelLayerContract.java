package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections with their real threads, on any adapter. No subclass may override a test. */
abstract class ChannelLayerContract {
  /** Lent to the test. */
  protected abstract VerbsProvider provider() throws Exception;

  protected abstract InetAddress ownerAddress() throws Exception;

  protected abstract InetAddress readerAddress() throws Exception;

  /** Fails if anything is left open. */
  protected abstract void assertNothingOpen();

  private LayerRig open() throws Exception {
    return new LayerRig(provider(), ownerAddress(), readerAddress(), ChannelSettings.defaults());
  }

  private LayerClient dial(LayerRig rig, int number, int rounds) throws Exception {
    LayerClient client = new LayerClient(rig, number, rounds);
    Dialer.Target target = rig.target(ownerAddress());
    assertThat(rig.reader.loop().offer(Work.of(() -> rig.reader.dialer().dial(target, client))))
        .isTrue();
    return client;
  }

  private static List<Thread> ourThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(t -> t.getName().startsWith("rdma-shuffle-") && t.getName().endsWith("-test"))
        .toList();
  }

  private static void await(BooleanSupplier condition) {
    long deadlineNs = NanoClock.system().nanoTime() + 10_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertThat(NanoClock.system().nanoTime() - deadlineNs).isNegative();
      Thread.onSpinWait();
    }
  }

  @AfterEach
  final void nothingIsLeft() {
    assertThat(ourThreads()).isEmpty();
    assertNothingOpen();
  }

  @Test
  final void blocksArriveAsTheyAre() throws Exception {
    try (LayerRig rig = open()) {
      LayerClient client = dial(rig, 0, 1000);
      client.await(client.ended);
      assertThat(client.cause.get()).isNull();
      assertThat(client.blocks.get()).isEqualTo(1000);
      assertThat(rig.readerCounters.value(Counter.READS_POSTED)).isBetween(3900L, 4000L);
    }
  }

  @Test
  final void manyConnectionsShareTheThreads() throws Exception {
    try (LayerRig rig = open()) {
      List<LayerClient> clients = new ArrayList<>();
      for (int i = 0; i < 16; i++) {
        clients.add(dial(rig, i, 100));
      }
      for (LayerClient client : clients) {
        client.await(client.ended);
        assertThat(client.cause.get()).isNull();
        assertThat(client.blocks.get()).isEqualTo(100);
      }
      assertThat(ourThreads().size()).isBetween(1, 8);
      assertThat(rig.sessionsOpen.get()).isEqualTo(16);
    }
  }

  @Test
  final void theOwnersEndIsTheReadersFailureAndNothingHangs() throws Exception {
    try (LayerRig rig = open()) {
      LayerClient client = dial(rig, 0, Integer.MAX_VALUE);
      client.await(client.opened);
      await(() -> client.blocks.get() > 50);
      rig.owner.close();
      client.await(client.ended);
      assertThat(client.cause.get()).isNotNull();
      assertThat(client.failures.get()).isEqualTo(1);
      await(() -> rig.reader.connections() == 0);
      assertThat(rig.sessionsOpen.get()).isZero();
    }
  }

  @Test
  final void theReadersEndTellsEveryHandler() throws Exception {
    try (LayerRig rig = open()) {
      LayerClient client = dial(rig, 0, Integer.MAX_VALUE);
      client.await(client.opened);
      await(() -> client.blocks.get() > 50);
      rig.reader.close();
      assertThat(client.ended.getCount()).isZero();
      assertThat(client.cause.get()).hasMessageContaining("stopping");
      assertThat(client.failures.get()).isEqualTo(1);
      await(() -> rig.sessionsOpen.get() == 0);
    }
  }

  @Test
  final void closingInTheMiddleOfConnectsLeavesNothing() throws Exception {
    for (int round = 0; round < 10; round++) {
      List<LayerClient> clients = new ArrayList<>();
      try (LayerRig rig = open()) {
        for (int i = 0; i < 8; i++) {
          clients.add(dial(rig, i, 1));
        }
        int soFar = round;
        await(() -> rig.sessionsOpen.get() >= Math.min(soFar, 7));
        rig.reader.close();
      }
      for (LayerClient client : clients) {
        client.await(client.ended);
      }
    }
  }

  @Test
  final void idleThreadsCostNoCpu() throws Exception {
    try (LayerRig rig = open()) {
      LayerClient client = dial(rig, 0, 10);
      client.await(client.ended);
      assertThat(client.blocks.get()).isEqualTo(10);
      assertThat(ourThreads()).isNotEmpty();
      long settledNs = NanoClock.system().nanoTime() + 20_000_000;
      await(() -> NanoClock.system().nanoTime() - settledNs > 0);
      long beforeNs = cpuNs();
      long endNs = NanoClock.system().nanoTime() + 1_000_000_000;
      await(() -> NanoClock.system().nanoTime() - endNs > 0);
      assertThat(cpuNs() - beforeNs).isLessThan(20_000_000);
    }
  }

  private static long cpuNs() {
    return ourThreads().stream()
        .mapToLong(t -> ManagementFactory.getThreadMXBean().getThreadCpuTime(t.getId()))
        .sum();
  }

  @Test
  final void closingTwiceIsTheSameAsOnce() throws Exception {
    try (LayerRig rig = open()) {
      rig.owner.close();
      rig.owner.close();
      assertThat(rig.owner.loop().offer(Work.of(() -> {}))).isFalse();
    }
  }

  @Test
  final void anInterruptDoesNotCutTheCloseShort() throws Exception {
    try (LayerRig rig = open()) {
      LayerClient client = dial(rig, 0, Integer.MAX_VALUE);
      client.await(client.opened);
      Thread.currentThread().interrupt();
      rig.reader.close();
      assertThat(Thread.interrupted()).isTrue();
      assertThat(rig.reader.connections()).isZero();
      client.await(client.ended);
    }
  }
}
