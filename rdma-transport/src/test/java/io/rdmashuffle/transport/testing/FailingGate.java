package io.rdmashuffle.transport.testing;

import io.rdmashuffle.transport.handover.Gate;
import java.util.concurrent.atomic.AtomicInteger;

/** Fails once: at the hand-over, or the thread to be made, that it was set to. Any thread. */
public final class FailingGate implements Gate {
  private final AtomicInteger left = new AtomicInteger();

  /**
   * @param nth from now on, beginning with 1
   */
  public void failAt(int nth) {
    left.set(nth);
  }

  /** It does not fail any more. Returns whether it has. */
  public boolean end() {
    return left.getAndSet(0) == 0;
  }

  @Override
  public void pass() {
    if (left.get() > 0 && left.decrementAndGet() == 0) {
      throw new OutOfMemoryError("the test's shortage at a hand-over");
    }
  }

  @Override
  public Thread newThread(Runnable body, String name) {
    pass();
    return Gate.super.newThread(body, name);
  }
}
