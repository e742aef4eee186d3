package io.rdmashuffle.transport.handover;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Makes a thread do the same again and again: at least once after each {@link #raise}. Raising it
 * allocates nothing, and while it waits already it does nothing.
 */
public final class Signal extends Work {
  private final Workers workers;
  private final Runnable action;
  private final AtomicBoolean waits = new AtomicBoolean();
  private final AtomicBoolean armed = new AtomicBoolean();

  /**
   * @param workers do the action; lent
   */
  public Signal(Workers workers, Runnable action) {
    this.workers = workers;
    this.action = action;
  }

  /** Any thread. */
  public void raise() {
    if (waits.compareAndSet(false, true)) {
      workers.execute(this);
    }
  }

  /** The next {@link #raiseIfArmed} raises it, and only that one. Any thread. */
  public void arm() {
    armed.set(true);
  }

  /** For what happens often and matters seldom. Any thread. */
  public void raiseIfArmed() {
    if (armed.compareAndSet(true, false)) {
      raise();
    }
  }

  @Override
  protected void run() {
    waits.set(false);
    action.run();
  }

  @Override
  protected void abandoned(Throwable why) {
    waits.set(false); // the next one tries again
  }
}
