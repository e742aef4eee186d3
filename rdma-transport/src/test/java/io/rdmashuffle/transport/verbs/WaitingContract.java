package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.RigEnd.Port;
import java.lang.management.ManagementFactory;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Sleeping and waking of completion queues and connection channels. */
public interface WaitingContract extends RigTest {
  /** Far more than waking takes, far less than {@link RigEnd#PATIENCE_NS}. */
  long SOON_NS = TimeUnit.SECONDS.toNanos(5);

  @Test
  default void awaitEndsInTimeAndCostsNoCpu() throws Exception {
    CompletionQueue completions = rig().client().completions();
    CmChannel cm = rig().client().cm();

    assertSleeps(completions::await);
    assertSleeps(cm::await);
  }

  @Test
  default void awaitOfNoTimeOnlyLooks() throws Exception {
    long start = System.nanoTime();
    rig().client().completions().await(0);
    rig().client().completions().await(-1);
    assertThat(rig().client().cm().await(0)).isNull();
    assertThat(rig().client().cm().await(-1)).isNull();

    assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
  }

  @Test
  default void wakeUpBeforeAwaitIsNotLostAndCountsOnce() throws Exception {
    CompletionQueue completions = rig().client().completions();
    CmChannel cm = rig().client().cm();
    completions.wakeUp();
    completions.wakeUp();
    cm.wakeUp();
    cm.wakeUp();

    long start = System.nanoTime();
    completions.await(RigEnd.PATIENCE_NS);
    assertThat(cm.await(RigEnd.PATIENCE_NS)).isNull();

    assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
    assertSleeps(completions::await);
    assertSleeps(cm::await);
  }

  @Test
  default void wakeUpEndsAnAwaitOfAnotherThread() throws Exception {
    CompletionQueue completions = rig().client().completions();
    CmChannel cm = rig().client().cm();

    assertWakes(() -> completions.await(RigEnd.PATIENCE_NS), completions::wakeUp);
    assertWakes(() -> cm.await(RigEnd.PATIENCE_NS), cm::wakeUp);
  }

  @Test
  default void wakeUpsOfManyThreadsAreNeverLost() throws Exception {
    CompletionQueue completions = rig().client().completions();
    for (int i = 0; i < 300; i++) {
      Thread waker = new Thread(completions::wakeUp, "waker");
      waker.start();
      long start = System.nanoTime();
      completions.await(RigEnd.PATIENCE_NS);
      assertThat(System.nanoTime() - start).isLessThan(SOON_NS);
      waker.join();
    }
  }

  @Test
  default void completionEndsTheAwaitOfAnArmedQueue() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    CompletionQueue completions = rig().client().completions();
    WorkCompletions batch = new WorkCompletions(4);

    for (int i = 0; i < 200; i++) {
      completions.arm();
      assertThat(completions.poll(batch)).isZero();
      pair.postRead(i, source, sink, 4096);
      long start = System.nanoTime();
      int found = 0;
      while (found == 0) {
        completions.await(RigEnd.PATIENCE_NS);
        found = completions.poll(batch);
        assertThat(System.nanoTime() - start).as("round %s", i).isLessThan(SOON_NS);
      }
      assertThat(batch.wrId(0)).isEqualTo(i);
    }
  }

  @Test
  default void armingLosesNoWakeUp() throws Exception {
    int messages = 2000;
    RigPair pair = rig().connectWithoutRights();
    RigMemory from = rig().memory(rig().client(), 64, Access.LOCAL_READ);
    RigMemory into = rig().memory(rig().server(), 64, Access.LOCAL_WRITE);
    ExecutorService receiver = Executors.newSingleThreadExecutor();
    try {
      // Nobody sends what no receive waits for: over iWARP that ends the connection (RFC 5041).
      Semaphore posted = new Semaphore(0);
      Future<Integer> received =
          receiver.submit(() -> receiveAll(pair.server(), into, messages, posted));
      for (int i = 0; i < messages; i++) {
        assertThat(posted.tryAcquire(RigEnd.PATIENCE_NS, TimeUnit.NANOSECONDS)).isTrue();
        pair.client().queuePair().postSend(i, from.region().address(), 8, from.region().lkey());
        rig().client().completion();
      }
      assertThat(received.get(20, TimeUnit.SECONDS)).isEqualTo(messages);
    } finally {
      receiver.shutdownNow();
      assertThat(receiver.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  default void pollTakesNoMoreThanItsBatchHolds() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(64);
    RigMemory sink = rig().sink(64);
    CompletionQueue completions = rig().client().completions();
    for (int i = 0; i < 5; i++) {
      pair.postRead(i, source, sink, 64);
    }
    WorkCompletions batch = new WorkCompletions(2);

    for (int seen = 0; seen < 5; seen += batch.size()) {
      completions.poll(batch);
      assertThat(batch.size()).isLessThanOrEqualTo(2);
      for (int i = 0; i < batch.size(); i++) {
        assertThat(batch.wrId(i)).isEqualTo(seen + i);
      }
    }
    assertThat(completions.poll(batch)).isZero();
    assertThat(batch.size()).isZero();
  }

  /** Waits as the progress thread does: arm, poll once more, sleep. */
  private static int receiveAll(Port port, RigMemory into, int messages, Semaphore posted)
      throws VerbsException {
    CompletionQueue completions = port.end().completions();
    WorkCompletions batch = new WorkCompletions(16);
    for (int i = 0; i < 32; i++) {
      port.queuePair().postReceive(i, into.region().address(), 64, into.region().lkey());
      posted.release();
    }
    int seen = 0;
    long lastSeenNs = System.nanoTime();
    while (seen < messages && System.nanoTime() - lastSeenNs < SOON_NS) {
      int found = completions.poll(batch);
      if (found == 0) {
        completions.arm();
        found = completions.poll(batch);
      }
      if (found == 0) {
        completions.await(RigEnd.PATIENCE_NS);
        continue;
      }
      lastSeenNs = System.nanoTime();
      seen += found;
      for (int i = 0; i < found && seen < messages; i++) {
        port.queuePair()
            .postReceive(batch.wrId(i), into.region().address(), 64, into.region().lkey());
        posted.release();
      }
    }
    return seen;
  }

  private static void assertSleeps(Waiting waiting) throws Exception {
    long timeoutNs = TimeUnit.MILLISECONDS.toNanos(100);
    long cpuBefore = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    long start = System.nanoTime();
    waiting.await(timeoutNs);
    long took = System.nanoTime() - start;
    long cpu = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - cpuBefore;

    assertThat(took).isBetween(timeoutNs, SOON_NS);
    assertThat(cpu).as("CPU of a sleep of 100 ms").isLessThan(timeoutNs / 2);
  }

  private static void assertWakes(Blocking blocking, Runnable wakeUp) throws Exception {
    ExecutorService waiter = Executors.newSingleThreadExecutor();
    try {
      Future<Long> slept =
          waiter.submit(
              () -> {
                long start = System.nanoTime();
                blocking.run();
                return System.nanoTime() - start;
              });
      // allow(sleep): so that it usually sleeps already; right either way
      TimeUnit.MILLISECONDS.sleep(20);
      wakeUp.run();
      assertThat(slept.get(10, TimeUnit.SECONDS)).isLessThan(SOON_NS);
    } finally {
      waiter.shutdownNow();
      assertThat(waiter.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** Any await of the interface. */
  interface Waiting {
    void await(long timeoutNs) throws Exception;
  }

  /** Something that blocks. */
  interface Blocking {
    void run() throws Exception;
  }
}
