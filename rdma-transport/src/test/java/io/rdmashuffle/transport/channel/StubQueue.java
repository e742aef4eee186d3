package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A completion queue filled by the test. Waiting really waits. */
final class StubQueue implements CompletionQueue {
  final AtomicInteger waits = new AtomicInteger();
  final AtomicInteger wakeUps = new AtomicInteger();
  volatile boolean broken;
  private final Queue<long[]> completions = new ArrayDeque<>();
  private final Semaphore signals = new Semaphore(0);
  private boolean armed;
  private Runnable duringArm = () -> {};

  /** Runs once, between arming and the look that follows. */
  synchronized void duringArm(Runnable task) {
    duringArm = task;
  }

  synchronized void complete(long wrId, int bytes) {
    completions.add(new long[] {wrId, bytes});
    if (armed) {
      armed = false;
      signals.release();
    }
  }

  @Override
  public synchronized int poll(WorkCompletions into) throws VerbsException {
    into.clear();
    if (broken) {
      throw new VerbsException(Kind.BUG, "the queue overflowed", 5);
    }
    while (into.size() < into.capacity() && !completions.isEmpty()) {
      long[] next = completions.poll();
      if (next[1] >= 0) {
        into.addSuccess(next[0], 1, (int) next[1]);
      } else {
        into.addFailure(next[0], WcStatus.GENERAL_ERR, 1, 0);
      }
    }
    return into.size();
  }

  @Override
  public void arm() {
    Runnable task;
    synchronized (this) {
      armed = true;
      task = duringArm;
      duringArm = () -> {};
    }
    task.run();
  }

  @Override
  public void await(long timeoutNs) {
    waits.incrementAndGet();
    try {
      if (signals.tryAcquire(Math.max(0, timeoutNs), TimeUnit.NANOSECONDS)) {
        signals.drainPermits();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void wakeUp() {
    wakeUps.incrementAndGet();
    signals.release();
  }

  @Override
  public void close() {
    // holds nothing
  }
}
