package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.Workers;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;

/** Threads that work when the test says so, on its thread. */
final class ManualExecutor implements Workers {
  private final Deque<Work> tasks = new ArrayDeque<>();
  private boolean paused;
  private boolean shutDown;

  @Override
  public void execute(Work task) {
    if (shutDown) {
      task.abandon(new RejectedExecutionException("shut down"));
      return;
    }
    tasks.add(task);
  }

  /** Runs what is there unless paused. Returns how many tasks it ran. */
  int runAll() {
    int ran = 0;
    while (!paused && !tasks.isEmpty()) {
      assertThat(tasks.poll().perform()).isNull();
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
