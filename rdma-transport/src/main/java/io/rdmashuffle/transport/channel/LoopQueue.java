package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.WorkQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * What a loop's thread is to do. It always has room: what goes wrong around a hand-over is told to
 * the loop, and does not keep the work out.
 *
 * <p><b>Threads:</b> {@link #execute} and {@link #offer} any, the rest on the loop's thread.
 */
final class LoopQueue {
  private final Gate gate;
  private final Consumer<Throwable> bugs;
  private final WorkQueue queue = new WorkQueue();
  private final RejectedExecutionException ended;

  /**
   * @param gate what is handed over passes it
   * @param bugs hears of what work throws, and of what the gate says
   */
  LoopQueue(String thread, Gate gate, Consumer<Throwable> bugs) {
    this.gate = gate;
    this.bugs = bugs;
    this.ended = new RejectedExecutionException("the " + thread + " thread has ended");
  }

  /** Returns false if so many wait already, or the loop has ended. */
  boolean offer(Work work, int mostWaiting) {
    gate.pass();
    return queue.depth() < mostWaiting && queue.push(work);
  }

  /** Returns false if the loop has ended: the work is abandoned then. */
  boolean execute(Work work) {
    try {
      gate.pass();
    } catch (Throwable shortage) {
      bugs.accept(shortage);
    }
    if (queue.push(work)) {
      return true;
    }
    work.abandon(ended);
    return false;
  }

  /** Returns false if the loop has ended: the task is dropped then. */
  boolean execute(Runnable task) {
    gate.pass();
    return queue.push(Work.of(task));
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** Returns how many it ran. */
  int run(int most) {
    int ran = 0;
    for (Work work = queue.poll(); work != null; work = queue.poll()) {
      Throwable bug = work.perform();
      if (bug != null) {
        bugs.accept(bug);
      }
      if (++ran == most) {
        break;
      }
    }
    return ran;
  }

  /** Lets nothing in any more; what is in is there to be run. */
  void close() {
    queue.close();
  }
}
