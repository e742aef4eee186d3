package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.Workers;

/**
 * The way onto the progress thread, and its time.
 *
 * <p><b>Threads:</b> {@link #offer}, {@link #execute} and {@link #fail} any; the rest on the
 * progress thread only. Tasks run in the order they came and must not block.
 *
 * <p><b>Failure:</b> what a task throws, an Error or a bug, may have left anything half done. So
 * may what {@link #fail} is told. Then the recoveries run, again and again until each of them has
 * succeeded, and the loop goes on.
 */
public interface ProgressLoop extends Workers {
  /**
   * Admission for work that comes from outside, task threads above all.
   *
   * @return false if the queue is full or the loop is stopped: the caller takes another way
   */
  boolean offer(Work work);

  /**
   * For answers of this transport's own threads (slow pool, CM thread, returned buffers). Never
   * refused while the loop runs; after it stopped the work is abandoned.
   */
  @Override
  void execute(Work work);

  /** As {@link #execute(Work)}, for what may be dropped with the loop. */
  void execute(Runnable task);

  /** Runs {@code task} once, not before the time is over. */
  Timer schedule(long delayNs, Runnable task);

  /** Time of the current round of the loop. */
  long nowNs();

  /** Whether the caller is the progress thread. */
  boolean inLoop();

  /** Something of this transport was lost or left half done. Allocates nothing. */
  void fail(Throwable cause);

  /** Those added last run first. Any thread, before they are needed. */
  void addRecovery(Recovery recovery);

  /** A scheduled task. */
  interface Timer {
    /** Idempotent; also after it ran. */
    void cancel();
  }

  /** Ends whatever may have been left half done, on the progress thread. */
  interface Recovery {
    /** Called again if it throws: it may itself meet what it recovers from. */
    void recover(Throwable cause);
  }
}
