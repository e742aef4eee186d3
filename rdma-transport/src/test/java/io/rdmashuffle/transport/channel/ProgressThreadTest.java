package io.rdmashuffle.transport.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.testing.ManualClock;
import io.rdmashuffle.transport.verbs.WcStatus;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class ProgressThreadTest {
  private static final Duration SPIN = Duration.ofNanos(20_000);

  private final ManualClock clock = new ManualClock(Long.MAX_VALUE - 50); // soon wraps
  private final StubQueue queue = new StubQueue();
  private final List<Throwable> queueFailures = new ArrayList<>();
  private final List<String> log = new ArrayList<>();
  private final ProgressThread stepped =
      new ProgressThread(queue, clock, SPIN, Gate.OPEN, queueFailures::add);
  private ProgressThread running;
  private Thread thread;

  private ProgressThread start() {
    running = new ProgressThread(queue, NanoClock.system(), SPIN, Gate.OPEN, queueFailures::add);
    thread = new Thread(running, "progress-under-test");
    thread.start();
    return running;
  }

  @AfterEach
  void end() throws InterruptedException {
    if (running != null) {
      running.stop();
      thread.join(10_000);
      assertThat(thread.isAlive()).isFalse();
    }
  }

  private static void await(BooleanSupplier condition) {
    long deadlineNs = NanoClock.system().nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (!condition.getAsBoolean()) {
      assertThat(NanoClock.system().nanoTime() - deadlineNs).isNegative();
      Thread.onSpinWait();
    }
  }

  @Test
  void tasksRunInTheOrderTheyCame() {
    stepped.execute(() -> log.add("a"));
    assertThat(stepped.offer(Work.of(() -> log.add("b")))).isTrue();
    stepped.execute(() -> log.add("c"));
    assertThat(stepped.runOnce()).isTrue();
    assertThat(log).containsExactly("a", "b", "c");
    assertThat(stepped.runOnce()).isFalse();
    assertThat(stepped.inLoop()).isTrue();
  }

  @Test
  void admissionIsBoundedAndInternalTasksAreNot() {
    int admitted = 0;
    while (stepped.offer(Work.of(() -> log.add("offered")))) {
      admitted++;
    }
    assertThat(admitted).isEqualTo(4096);
    stepped.execute(() -> log.add("internal"));
    while (stepped.runOnce()) {
      // until all have run
    }
    assertThat(log).hasSize(4097).endsWith("internal");
    assertThat(stepped.offer(Work.of(() -> {}))).isTrue();
  }

  @Test
  void aThrowingTaskDoesNotEndTheLoop() {
    stepped.execute(
        () -> {
          throw new AssertionError("thrown on purpose");
        });
    stepped.execute(() -> log.add("next"));
    stepped.runOnce();
    assertThat(log).containsExactly("next");
  }

  @Test
  void timersRunWhenDueAndNotBeforeAndOnceAndNotWhenCancelled() {
    stepped.runOnce();
    stepped.schedule(100, () -> log.add("100"));
    stepped.schedule(50, () -> log.add("50"));
    stepped.schedule(50, () -> log.add("50 too"));
    stepped.schedule(0, () -> log.add("0"));
    stepped.schedule(70, () -> log.add("never")).cancel();
    stepped.runOnce();
    assertThat(log).containsExactly("0");
    clock.advanceNs(49);
    stepped.runOnce();
    assertThat(log).containsExactly("0");
    clock.advanceNs(1); // beyond Long.MAX_VALUE
    stepped.runOnce();
    assertThat(log).containsExactly("0", "50", "50 too");
    clock.advanceNs(1000);
    stepped.runOnce();
    stepped.runOnce();
    assertThat(log).containsExactly("0", "50", "50 too", "100");
  }

  @Test
  void completionsReachTheirSinkAndThoseOfFormerOwnersNobody() {
    CompletionTable table = stepped.completionTable();
    int slot = table.add((op, status, bytes, error) -> log.add("old " + op));
    long stale = table.wrId(slot, 7);
    table.remove(slot);
    int reused = table.add((op, status, bytes, error) -> log.add(op + " " + status + " " + bytes));
    assertThat(reused).isEqualTo(slot);
    queue.complete(stale, 1);
    queue.complete(table.wrId(reused, 65_535), 8192);
    queue.complete(table.wrId(reused, 3), -1);
    queue.complete(0xffff_ffff_ffff_ffffL, 1);
    stepped.runOnce();
    assertThat(log)
        .containsExactly("65535 " + WcStatus.SUCCESS + " 8192", "3 " + WcStatus.GENERAL_ERR + " 0");
  }

  @Test
  void aThrowingSinkDoesNotKeepOthersFromTheirCompletions() {
    CompletionTable table = stepped.completionTable();
    int bad =
        table.add(
            (op, status, bytes, error) -> {
              throw new IllegalStateException("thrown on purpose");
            });
    int good = table.add((op, status, bytes, error) -> log.add("good"));
    queue.complete(table.wrId(bad, 0), 0);
    queue.complete(table.wrId(good, 0), 0);
    stepped.runOnce();
    assertThat(log).containsExactly("good");
  }

  @Test
  void manySinksEachHaveASlot() {
    CompletionTable table = stepped.completionTable();
    for (int i = 0; i < 1000; i++) {
      int number = i;
      int slot = table.add((op, status, bytes, error) -> log.add(number + ""));
      queue.complete(table.wrId(slot, 1), 0);
    }
    while (stepped.runOnce()) {
      // until all have been dispatched
    }
    assertThat(log).hasSize(1000).doesNotHaveDuplicates();
    assertThat(table.size()).isEqualTo(1000);
  }

  @Test
  void aLostQueueIsToldOnceAndTasksGoOn() {
    start();
    queue.broken = true;
    AtomicInteger ran = new AtomicInteger();
    for (int i = 0; i < 100; i++) {
      running.execute(ran::incrementAndGet);
    }
    await(() -> ran.get() == 100);
    running.execute(() -> running.schedule(1_000_000, ran::incrementAndGet));
    await(() -> ran.get() == 101);
    assertThat(queueFailures).hasSize(1);
  }

  @Test
  void aTaskWakesTheSleepingLoop() {
    start();
    AtomicInteger ran = new AtomicInteger();
    for (int i = 1; i <= 100; i++) {
      int expected = i;
      await(() -> queue.waits.get() >= expected);
      assertThat(running.offer(Work.of(ran::incrementAndGet))).isTrue();
      await(() -> ran.get() == expected);
    }
  }

  @Test
  void aTaskPutInWhileTheLoopFallsAsleepIsNotForgotten() {
    AtomicInteger ran = new AtomicInteger();
    queue.duringArm(() -> running.execute(ran::incrementAndGet));
    start();
    await(() -> ran.get() == 1);
  }

  @Test
  void aCompletionThatArrivesWhileTheLoopFallsAsleepIsNotForgotten() {
    AtomicInteger ran = new AtomicInteger();
    running = new ProgressThread(queue, NanoClock.system(), SPIN, Gate.OPEN, queueFailures::add);
    CompletionTable table = running.completionTable();
    int slot = table.add((op, status, bytes, error) -> ran.incrementAndGet());
    queue.duringArm(() -> queue.complete(table.wrId(slot, 0), 0));
    thread = new Thread(running);
    thread.start();
    await(() -> ran.get() == 1);
  }

  @Test
  void noTaskIsLostHoweverManyThreadsPutThemIn() throws InterruptedException {
    start();
    AtomicLong ran = new AtomicLong();
    AtomicLong admitted = new AtomicLong();
    List<Thread> producers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Thread producer = new Thread(() -> produce(admitted, ran));
      producers.add(producer);
      producer.start();
    }
    for (Thread producer : producers) {
      producer.join();
    }
    await(() -> ran.get() == admitted.get());
    assertThat(admitted.get()).isPositive();
  }

  /** In bursts, so that the loop falls asleep again and again. */
  private void produce(AtomicLong admitted, AtomicLong ran) {
    for (int i = 0; i < 2_000; i++) {
      if (running.offer(Work.of(ran::incrementAndGet))) {
        admitted.incrementAndGet();
      }
      long pauseUntilNs = NanoClock.system().nanoTime() + (i % 50 == 0 ? 200_000 : 0);
      while (NanoClock.system().nanoTime() < pauseUntilNs) {
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void whatWasAdmittedBeforeTheStopStillRuns() throws InterruptedException {
    for (int round = 0; round < 50; round++) {
      ProgressThread loop = start();
      AtomicLong ran = new AtomicLong();
      AtomicLong admitted = new AtomicLong();
      CountDownLatch started = new CountDownLatch(1);
      Thread producer =
          new Thread(
              () -> {
                started.countDown();
                while (loop.offer(Work.of(ran::incrementAndGet))) {
                  admitted.incrementAndGet();
                  await(() -> admitted.get() - ran.get() < 1000);
                }
              });
      producer.start();
      started.await();
      loop.stop();
      thread.join(10_000);
      producer.join(10_000);
      assertThat(ran.get()).isEqualTo(admitted.get());
      loop.execute(() -> log.add("after the end"));
    }
    assertThat(log).isEmpty();
  }

  @Test
  void anIdleLoopCostsNoCpu() {
    start();
    await(() -> queue.waits.get() > 0);
    long beforeNs = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId());
    long endNs = NanoClock.system().nanoTime() + 300_000_000;
    await(() -> NanoClock.system().nanoTime() - endNs >= 0);
    long spentNs = ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()) - beforeNs;
    assertThat(spentNs).isLessThan(3_000_000);
    assertThat(queue.waits.get()).isLessThan(5);
  }

  @Test
  void aTimerWakesTheSleepingLoop() {
    start();
    AtomicLong lateNs = new AtomicLong(Long.MIN_VALUE);
    running.execute(
        () -> {
          long dueNs = running.nowNs() + 30_000_000;
          running.schedule(30_000_000, () -> lateNs.set(NanoClock.system().nanoTime() - dueNs));
        });
    await(() -> lateNs.get() != Long.MIN_VALUE);
    assertThat(lateNs.get()).isNotNegative();
  }
}
