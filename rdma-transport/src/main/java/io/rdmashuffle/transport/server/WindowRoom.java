package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.memory.MemoryBudget;

/**
 * The room for windows, which all domains of a process share: what is registered in any of them,
 * and what of that may be evicted for any of them. Which domain an idle window belongs to makes no
 * difference to when it goes. Progress thread only.
 */
final class WindowRoom {
  private final MemoryBudget budget;
  private final RegistrationBackoff backoff;
  private final IdleWindows idle = new IdleWindows();
  private long heldBytes; // windows registered or on their way, without those on their way out
  private long promisedBytes; // of the budget, to registrations that have not taken it yet

  WindowRoom(MemoryBudget budget, NanoClock clock) {
    this.budget = budget;
    this.backoff = new RegistrationBackoff(clock);
  }

  IdleWindows idle() {
    return idle;
  }

  /** What earlier failures of the adapter or the kernel tell. */
  RegistrationBackoff backoff() {
    return backoff;
  }

  /** Bytes that can be registered without evicting anything; may be negative. */
  long freeBytes() {
    long inBudget = budget.availableBytes(MemoryBudget.Use.WINDOWS) - promisedBytes;
    return heldBytes == 0 ? inBudget : Math.min(inBudget, backoff.limitBytes() - heldBytes);
  }

  /** A registration begins, or a window goes. */
  void held(long deltaBytes) {
    heldBytes += deltaBytes;
  }

  /** A registration will take that much of the budget, or has taken it or given up. */
  void promised(long deltaBytes) {
    promisedBytes += deltaBytes;
  }

  void onRegistered() {
    backoff.onSucceeded(heldBytes);
  }

  /** There was no memory for a window, which is not counted any more. */
  void onNoMemory() {
    backoff.onFailed(heldBytes);
  }
}
