package io.rdmashuffle.transport.handover;

/**
 * Work whose end is told where it came from: {@link #go} on a pool's thread, then {@link #back} on
 * the thread that confines the state it belongs to. Whatever {@link #go} meets, its end is told:
 * nothing is allocated on the way.
 *
 * <p><b>Threads:</b> what {@link #go} writes may be read by {@link #back}. Once that has begun, the
 * errand may be sent again.
 */
public abstract class Errand extends Work {
  private final Workers home;
  private boolean gone;
  private Throwable failure;

  /**
   * @param home where it comes back to; lent
   */
  protected Errand(Workers home) {
    this.home = home;
  }

  /** On the pool's thread. */
  protected abstract void go() throws Exception;

  /**
   * At home, once, unless home has ended.
   *
   * @param failure what {@link #go} threw, or why nobody took it; null if it returned
   */
  protected abstract void back(Throwable failure);

  /** Home has ended, so there is no {@link #back}. Nothing is left to do then for most. */
  protected void homeless() {}

  @Override
  protected final void run() {
    if (gone) {
      Throwable outcome = failure;
      gone = false;
      failure = null;
      back(outcome);
      return;
    }
    gone = true;
    try {
      go();
    } catch (Throwable thrown) { // also an Error: somebody waits for the end either way
      failure = thrown;
    }
    home.execute(this);
  }

  @Override
  protected final void abandoned(Throwable why) {
    if (gone) {
      homeless();
      return;
    }
    gone = true;
    failure = why;
    home.execute(this);
  }
}
