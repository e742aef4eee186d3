package io.rdmashuffle.transport.client;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** Threads that work when the test says so, on its thread. */
final class ManualExecutor implements Executor {
  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private boolean paused;
  private boolean shutDown;

  @Override
  public void execute(Runnable task) {
    if (shutDown) {
      throw new RejectedExecutionException("shut down");
    }
    tasks.add(task);
  }

  /** Runs what is there unless paused. Returns how many tasks it ran. */
  int runAll() {
    int ran = 0;
    while (!paused && !tasks.isEmpty()) {
      tasks.poll().run();
      ran++;
    }
    return ran;
  }

  void pause() {
    paused = true;
  }

  void resume() {
    paused = false;
  }

  void shutDown() {
    shutDown = true;
    tasks.clear();
  }

  int pending() {
    return tasks.size();
  }
}
