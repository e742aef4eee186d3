package io.rdmashuffle.transport.server;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** A pool whose work is done when the test says so, on its thread. */
final class ManualPool implements Executor {
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private boolean shut;

  @Override
  public void execute(Runnable task) {
    if (shut) {
      throw new RejectedExecutionException("shut");
    }
    tasks.add(task);
  }

  /** Runs one task. False if there is none. */
  boolean runOne() {
    Runnable task = tasks.poll();
    if (task != null) {
      task.run();
    }
    return task != null;
  }

  int waiting() {
    return tasks.size();
  }

  void reopen() {
    shut = false;
  }

  void shut() {
    shut = true;
  }
}
