package io.rdmashuffle.spark.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Gate;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class PeerExecutorTest {
  private final List<String> events = new CopyOnWriteArrayList<>();

  private PeerExecutor.Job job(String name, Runnable work) {
    return new PeerExecutor.Job() {
      @Override
      public void run() {
        work.run();
        events.add(name);
      }

      @Override
      public void abandon() {
        events.add(name + " abandoned");
      }
    };
  }

  private static PeerExecutor opened(int threads) {
    PeerExecutor executor = new PeerExecutor(threads);
    try {
      executor.open();
    } catch (TransportException e) {
      throw new AssertionError(e);
    }
    return executor;
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void jobsOfAHangingPeerDoNotHoldUpOthers() {
    CountDownLatch hang = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    try (PeerExecutor executor = opened(2)) {
      for (int i = 0; i < 5; i++) {
        executor.execute("dead", job("dead " + i, () -> await(hang)));
      }
      executor.execute("alive", job("alive", done::countDown));
      await(done);
      assertThat(events).doesNotContain("dead 0");
      hang.countDown();
    }
  }

  @Test
  void jobsOfOnePeerRunOneAtATimeInOrder() {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(100);
    try (PeerExecutor executor = opened(4)) {
      for (int i = 0; i < 100; i++) {
        executor.execute(
            "peer",
            job(
                String.valueOf(i),
                () -> {
                  most.accumulateAndGet(running.incrementAndGet(), Math::max);
                  running.decrementAndGet();
                  done.countDown();
                }));
      }
      await(done);
    }
    assertThat(most).hasValue(1);
    assertThat(events.subList(0, 99))
        .isSortedAccordingTo((a, b) -> Integer.compare(Integer.parseInt(a), Integer.parseInt(b)));
  }

  @Test
  void throwingJobDoesNotEndItsPeersQueue() {
    CountDownLatch done = new CountDownLatch(1);
    try (PeerExecutor executor = opened(1)) {
      executor.execute(
          "peer",
          job(
              "bad",
              () -> {
                throw new IllegalStateException("on purpose");
              }));
      executor.execute("peer", job("good", done::countDown));
      await(done);
    }
  }

  @Test
  void everyJobIsRunOrAbandonedAtClose() {
    CountDownLatch began = new CountDownLatch(1);
    PeerExecutor executor = opened(1);
    executor.execute(
        "a",
        job(
            "a0",
            () -> {
              began.countDown();
              await(new CountDownLatch(1)); // ends by the interrupt
            }));
    executor.execute("a", job("a1", () -> {}));
    executor.execute("b", job("b0", () -> {}));
    executor.execute("b", job("b1", () -> {}));
    await(began);
    executor.close();
    executor.execute("c", job("c0", () -> {}));
    assertThat(events)
        .containsExactlyInAnyOrder(
            "a0", "a1 abandoned", "b0 abandoned", "b1 abandoned", "c0 abandoned");
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("rdma-shuffle-calls-"));
  }

  /** As under a container's limit on threads: no job may be lost, nor hold up those behind it. */
  @Test
  void withoutThreadsJobsAreDoneByWhoeverComes() {
    Gate noThreads =
        new Gate() {
          @Override
          public Thread newThread(Runnable body, String name) {
            throw new OutOfMemoryError("test: unable to create native thread");
          }
        };
    try (PeerExecutor executor = new PeerExecutor(2, noThreads)) {
      assertThatThrownBy(executor::open).isInstanceOf(TransportException.class);
      executor.execute("peer", job("first", () -> {}));
      executor.execute("peer", job("second", () -> {}));
    }
    assertThat(events).containsExactly("first", "second");
  }
}
