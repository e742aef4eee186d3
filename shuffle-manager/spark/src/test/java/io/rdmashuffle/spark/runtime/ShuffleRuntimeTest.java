package io.rdmashuffle.spark.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.core.adapter.AdapterLifecycle.Opener;
import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.spark.catalog.MapOutput;
import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.PeerTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.testing.TestTransport;
import io.rdmashuffle.transport.wire.BlockKey;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class ShuffleRuntimeTest {
  private static final String NO_DEVICE = "no active port; load the driver of your adapter";

  private final List<OutputFile> forgotten = new ArrayList<>();
  private final TestTransport transport =
      new TestTransport() {
        @Override
        public void forget(Collection<OutputFile> files) {
          forgotten.addAll(files);
        }
      };
  private final AtomicInteger openings = new AtomicInteger();
  private final MapOutputCatalog catalog = new MapOutputCatalog((group, output) -> null);

  private ShuffleRuntime runtime(Mode mode, Opener<PeerTransport> opener) {
    return runtime(mode, Optional.empty(), opener);
  }

  private ShuffleRuntime runtime(
      Mode mode, Optional<Availability.Absent> obstacle, Opener<PeerTransport> opener) {
    return new ShuffleRuntime(
        new FallbackPolicy(mode, "spark.shuffle.rdma.mode", obstacle),
        catalog,
        rules ->
            new AdapterLifecycle<>(
                rules,
                () -> {
                  openings.incrementAndGet();
                  return opener.open();
                }));
  }

  private static PeerTransport noDevice() throws TransportException {
    throw new TransportException(TransportException.Kind.CONFIG, NO_DEVICE);
  }

  private static MapOutput output(String name) {
    return MapOutput.ofLengths(Path.of(name), new long[] {3, 4});
  }

  @Test
  void nothingIsOpenedBeforeTheFirstTask() {
    try (ShuffleRuntime runtime = runtime(Mode.AUTO, () -> transport)) {
      assertThat(runtime.state()).isInstanceOf(Availability.Absent.class);
      runtime.snapshot();
    }
    assertThat(openings).hasValue(0);
  }

  @Test
  void aQuestionBeforeTheFirstTaskBeginsToOpenTheDevice() {
    CountDownLatch opens = new CountDownLatch(1);
    try (ShuffleRuntime runtime =
        runtime(
            Mode.AUTO,
            () -> {
              assertThatCode(opens::await).doesNotThrowAnyException();
              return transport;
            })) {
      assertThat(runtime.invitation()).isInstanceOf(Invitation.NotYet.class);
      assertThat(runtime.invitation()).isInstanceOf(Invitation.NotYet.class);
      opens.countDown();
      runtime.open(); // waits for the same opening
      assertThat(runtime.invitation()).isInstanceOf(Invitation.Ticket.class);
      assertThat(openings).hasValue(1);
    }
  }

  @Test
  void aProcessWithoutRdmaSaysSoToWhoeverAsksFirst() {
    try (ShuffleRuntime runtime = runtime(Mode.OFF, () -> transport)) {
      assertThat(runtime.invitation()).isInstanceOf(Invitation.None.class);
    }
    assertThat(openings).hasValue(0);
  }

  @Test
  void deviceIsOpenedOnceAndClosed() throws InterruptedException {
    ShuffleRuntime runtime = runtime(Mode.REQUIRED, () -> transport);
    assertThat(runtime.open()).isEqualTo(new Availability.Open(transport));
    assertThat(runtime.open()).isEqualTo(runtime.state());
    assertThat(openings).hasValue(1);
    assertThat(runtime.invitation()).isInstanceOf(Invitation.Ticket.class);
    runtime.close();
    assertThat(transport.closed().await(0, TimeUnit.SECONDS)).isTrue();
    assertThat(((Availability.Absent) runtime.state()).reason()).isEqualTo(FallbackReason.STOPPING);
    assertThat(runtime.invitation()).isInstanceOf(Invitation.None.class);
  }

  @Test
  void missingDeviceIsAcceptedWhenAutoAndNotLookedForAgain() {
    try (ShuffleRuntime runtime = runtime(Mode.AUTO, ShuffleRuntimeTest::noDevice)) {
      assertThat(runtime.open())
          .isEqualTo(Availability.Absent.forGood(FallbackReason.NO_DEVICE, NO_DEVICE));
      assertThat(runtime.open()).isEqualTo(runtime.state());
      assertThat(openings).hasValue(1);
      assertThat(((Invitation.None) runtime.invitation()).text()).isEqualTo(NO_DEVICE);
    }
  }

  @Test
  void missingDeviceFailsEveryTaskWhenRequired() {
    try (ShuffleRuntime runtime = runtime(Mode.REQUIRED, ShuffleRuntimeTest::noDevice)) {
      for (int task = 0; task < 2; task++) {
        assertThatThrownBy(runtime::open)
            .isInstanceOf(RdmaRequiredException.class)
            .hasMessage(
                "spark.shuffle.rdma.mode=required, but this process has no RDMA: " + NO_DEVICE);
      }
      assertThat(openings).hasValue(1);
    }
  }

  @Test
  void brokenLibraryIsAMissingDevice() {
    try (ShuffleRuntime runtime =
        runtime(
            Mode.AUTO,
            () -> {
              throw new UnsatisfiedLinkError("libibverbs.so.1");
            })) {
      assertThat(((Availability.Absent) runtime.open()).text()).contains("libibverbs.so.1");
    }
  }

  @Test
  void offOpensNothing() {
    try (ShuffleRuntime runtime = runtime(Mode.OFF, () -> transport)) {
      assertThat(((Availability.Absent) runtime.open()).text())
          .isEqualTo("spark.shuffle.rdma.mode=off");
    }
    assertThat(openings).hasValue(0);
  }

  @Test
  void obstacleOpensNothingAndKeepsItsReason() {
    Availability.Absent encrypted =
        Availability.Absent.forGood(FallbackReason.ENCRYPTION, "encrypted");
    try (ShuffleRuntime auto = runtime(Mode.AUTO, Optional.of(encrypted), () -> transport);
        ShuffleRuntime required = runtime(Mode.REQUIRED, Optional.of(encrypted), () -> transport)) {
      assertThat(auto.open()).isEqualTo(encrypted);
      assertThatThrownBy(required::open).hasMessageEndingWith("encrypted");
    }
    assertThat(openings).hasValue(0);
  }

  @Test
  void interruptedTaskLeavesTheOpeningAlone() throws InterruptedException {
    CountDownLatch mayOpen = new CountDownLatch(1);
    try (ShuffleRuntime runtime =
        runtime(
            Mode.AUTO,
            () -> {
              try {
                mayOpen.await();
              } catch (InterruptedException e) {
                throw new TransportException(TransportException.Kind.BUG, "interrupted");
              }
              return transport;
            })) {
      Thread.currentThread().interrupt();
      assertThat(runtime.open()).isInstanceOf(Availability.Absent.class);
      assertThat(Thread.interrupted()).isTrue();
      mayOpen.countDown();
      assertThat(runtime.open()).isEqualTo(new Availability.Open(transport));
    }
  }

  @Test
  void deviceOpenedAfterCloseIsClosed() throws InterruptedException {
    CountDownLatch opened = new CountDownLatch(1);
    CountDownLatch mayOpen = new CountDownLatch(1);
    ShuffleRuntime runtime =
        runtime(
            Mode.AUTO,
            () -> {
              opened.countDown();
              try {
                mayOpen.await();
              } catch (InterruptedException e) {
                throw new TransportException(TransportException.Kind.BUG, "interrupted");
              }
              return transport;
            });
    Thread task = new Thread(runtime::open);
    task.start();
    opened.await();
    Thread.currentThread().interrupt(); // so that close does not wait
    runtime.close();
    assertThat(Thread.interrupted()).isTrue();
    mayOpen.countDown();
    assertThat(transport.closed().await(10, TimeUnit.SECONDS)).isTrue();
    task.join();
  }

  @Test
  void closedRuntimeOpensNothing() {
    ShuffleRuntime runtime = runtime(Mode.REQUIRED, () -> transport);
    runtime.close();
    assertThat(((Availability.Absent) runtime.open()).reason()).isEqualTo(FallbackReason.STOPPING);
    assertThat(openings).hasValue(0);
  }

  @Test
  void removedOutputsAreForgottenByTheServer() {
    try (ShuffleRuntime runtime = runtime(Mode.AUTO, () -> transport)) {
      runtime.open();
      MapOutput first = output("a");
      MapOutput second = output("b");
      MapOutput again = output("b");
      runtime.register(1, 10, first);
      runtime.register(1, 11, second);
      runtime.register(1, 11, again);
      assertThat(forgotten).containsExactly(second.file());
      runtime.remove(1, 10);
      runtime.removeGroup(1);
      runtime.removeGroup(1);
      assertThat(forgotten).containsExactly(second.file(), first.file(), again.file());
      assertThat(catalog.find(0, new BlockKey(1, 10, 0, 1))).isNull();
    }
  }

  @Test
  void processWithoutRdmaRemembersNoOutputs() {
    try (ShuffleRuntime runtime = runtime(Mode.OFF, () -> transport)) {
      runtime.open();
      runtime.register(1, 10, output("a"));
      assertThat(catalog.outputs()).isZero();
      assertThatCode(() -> runtime.remove(1, 10)).doesNotThrowAnyException();
    }
  }

  @Test
  void aLostAdapterIsClosedAndItsProcessGoesOnWithout() throws InterruptedException {
    try (ShuffleRuntime runtime = runtime(Mode.AUTO, () -> transport)) {
      runtime.open();
      transport.counters().add(Counter.BYTES_READ, 99);

      transport.lost().complete("test0 is lost");

      assertThat(transport.closed().await(10, TimeUnit.SECONDS)).isTrue();
      assertThat(runtime.open())
          .isEqualTo(Availability.Absent.forGood(FallbackReason.NO_DEVICE, "test0 is lost"));
      assertThat(((Invitation.None) runtime.invitation()).text()).isEqualTo("test0 is lost");
      assertThat(runtime.snapshot().absence()).isEqualTo("test0 is lost");
      assertThat(runtime.snapshot().device()).isEmpty();
      assertThat(runtime.snapshot().counters()).containsEntry("bytes.read", 99L);
      assertThat(openings).hasValue(1);
    }
  }

  @Test
  void aLostAdapterFailsTheNextTaskWhenRequired() throws InterruptedException {
    try (ShuffleRuntime runtime = runtime(Mode.REQUIRED, () -> transport)) {
      runtime.open();
      transport.lost().complete("test0 is lost");
      assertThat(transport.closed().await(10, TimeUnit.SECONDS)).isTrue();
      assertThatThrownBy(runtime::open)
          .isInstanceOf(RdmaRequiredException.class)
          .hasMessageEndingWith("test0 is lost");
    }
  }

  @Test
  void snapshotTellsDeviceCountersAndReasons() {
    try (ShuffleRuntime runtime = runtime(Mode.AUTO, () -> transport)) {
      runtime.open();
      transport.counters().add(Counter.BYTES_READ, 99);
      runtime.engineCounters().delivered(FallbackReason.TO_DISK, 1000);
      RuntimeSnapshot snapshot = runtime.snapshot();
      assertThat(snapshot.device()).isEqualTo("test0 at 10.0.0.1");
      assertThat(snapshot.counters())
          .containsEntry("bytes.read", 99L)
          .containsEntry("bytes.engine", 1000L)
          .containsEntry("blocks.engine", 1L);
      assertThat(snapshot.fallbackBlocks()).containsOnlyKeys("to-disk");
      assertThat(snapshot.levels()).containsEntry("bytes.registered", 4096L);
    }
  }
}
