package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.CompletionQueue;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WorkCompletions;
import java.util.function.Consumer;

/**
 * Takes completions from their queue to those they belong to. If the queue fails, every queue pair
 * on it is lost: the handler is told, and there are no completions any more. Progress thread only,
 * except {@link #wakeUp}.
 */
final class CompletionPump {
  private static final int COMPLETIONS_PER_POLL = 64;

  private final CompletionQueue queue;
  private final Consumer<TransportException> lossHandler;
  private final Consumer<Throwable> bugs;
  private final CompletionTable table = new CompletionTable();
  private final WorkCompletions completions = new WorkCompletions(COMPLETIONS_PER_POLL);
  private TransportException loss;
  private boolean lossTold;

  /**
   * @param queue lent
   * @param lossHandler told once that the queue is lost, again if it throws
   * @param bugs hears of what a sink throws, and of completions that may be lost
   */
  CompletionPump(
      CompletionQueue queue, Consumer<TransportException> lossHandler, Consumer<Throwable> bugs) {
    this.queue = queue;
    this.lossHandler = lossHandler;
    this.bugs = bugs;
  }

  CompletionTable table() {
    return table;
  }

  boolean isLost() {
    return loss != null;
  }

  /** Returns how many there were. */
  int pump() {
    if (loss != null) {
      return tellLoss();
    }
    int count;
    try {
      count = queue.poll(completions);
    } catch (VerbsException e) {
      loss = e;
      return tellLoss();
    } catch (Throwable bug) { // completions may be lost, and with them the end of what was posted
      bugs.accept(bug);
      return 0;
    }
    for (int i = 0; i < count; i++) {
      try {
        table.dispatch(completions, i);
      } catch (Throwable bug) {
        bugs.accept(bug);
      }
    }
    return count;
  }

  private int tellLoss() {
    if (lossTold) {
      return 0;
    }
    try {
      lossHandler.accept(loss);
      lossTold = true;
      return 1;
    } catch (Throwable bug) { // told again in the next round
      bugs.accept(bug);
      return 0;
    }
  }

  /** From now on a completion ends {@link #await}. */
  void arm() {
    try {
      queue.arm();
    } catch (VerbsException e) {
      loss = e;
    }
  }

  /** Waits for a completion or {@link #wakeUp}. */
  void await(long timeoutNs) {
    try {
      queue.await(timeoutNs);
    } catch (VerbsException e) {
      loss = e;
    }
  }

  /** Any thread. */
  void wakeUp() {
    queue.wakeUp();
  }
}
