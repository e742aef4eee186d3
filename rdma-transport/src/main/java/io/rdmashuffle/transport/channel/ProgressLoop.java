package io.rdmashuffle.transport.channel;

/**
 * The way onto the progress thread, and its time.
 *
 * <p><b>Threads:</b> {@link #offer} and {@link #execute} any; the rest on the progress thread only.
 * Tasks run in the order they came, must not block, and must not throw: a throwing task is logged
 * as a bug and the loop goes on.
 */
public interface ProgressLoop {
  /**
   * Admission for work that comes from outside, task threads above all.
   *
   * @return false if the queue is full or the loop is stopped: the caller takes another way
   */
  boolean offer(Runnable task);

  /**
   * For answers of this transport's own threads (slow pool, CM thread, returned buffers). Never
   * refused while the loop runs; after it stopped the task is dropped.
   */
  void execute(Runnable task);

  /** Runs {@code task} once, not before the time is over. */
  Timer schedule(long delayNs, Runnable task);

  /** Time of the current round of the loop. */
  long nowNs();

  /** Whether the caller is the progress thread. */
  boolean inLoop();

  /** A scheduled task. */
  interface Timer {
    /** Idempotent; also after it ran. */
    void cancel();
  }
}
