package io.rdmashuffle.transport.handover;

import io.rdmashuffle.transport.NanoClock;

/**
 * Waits that an interrupt does not cut short, because what is waited for decides whether memory may
 * be freed. They have a deadline, in real time; the interrupt is kept for the caller.
 */
public final class Uninterrupted {
  /** A wait that returns whether what it waited for is there. */
  public interface Wait {
    boolean await(long timeoutNs) throws InterruptedException;
  }

  private Uninterrupted() {}

  public static boolean await(Wait wait, long timeoutNs) {
    NanoClock clock = NanoClock.system();
    long deadlineNs = clock.nanoTime() + timeoutNs;
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return wait.await(Math.max(0, deadlineNs - clock.nanoTime()));
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
