package io.rdmashuffle.transport.handover;

import java.util.function.Consumer;

/**
 * Something that another thread is to do. It is its own node in the queue it waits in: handing it
 * over allocates nothing, and so cannot fail for lack of memory.
 *
 * <p>Each time it is handed over, exactly one of {@link #run} and {@link #abandoned} is called. As
 * soon as that has begun it may be handed over again, to the same queue or another; never while it
 * waits in one.
 *
 * <p><b>Threads:</b> {@link #run} on the thread it was handed to, {@link #abandoned} on any.
 */
public abstract class Work {
  /** The work that was handed over before this one; belongs to the queue while this waits in it. */
  Work next;

  /** About how many waited in the queue when this came, itself included. */
  int depth;

  /** Does it. What it throws is reported as a bug of this process; others go on. */
  protected abstract void run() throws Exception;

  /**
   * {@link #run} will not be called. Must not wait.
   *
   * @param why what is in the way: the thread is closed, most likely
   */
  protected abstract void abandoned(Throwable why);

  /** What may be dropped together with the thread that should do it. */
  public static Work of(Runnable task) {
    return of(task, why -> {});
  }

  public static Work of(Runnable task, Consumer<Throwable> abandoned) {
    return new Work() {
      @Override
      protected void run() {
        task.run();
      }

      @Override
      protected void abandoned(Throwable why) {
        abandoned.accept(why);
      }
    };
  }

  /**
   * For the thread that does it. Never throws.
   *
   * @return what {@link #run} threw, null if it returned
   */
  public final Throwable perform() {
    try {
      run();
      return null;
    } catch (Throwable thrown) { // whatever it is, the thread goes on
      return thrown;
    }
  }

  /** For whoever should do it and will not. */
  public final void abandon(Throwable why) {
    abandoned(why);
  }
}
