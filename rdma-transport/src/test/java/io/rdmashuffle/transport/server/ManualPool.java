package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.Workers;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;

/** A pool whose work is done when the test says so, on its thread. */
final class ManualPool implements Workers {
  private final Deque<Work> tasks = new ArrayDeque<>();
  private boolean shut;
  private Error error;

  @Override
  public void execute(Work task) {
    Error thrown = error;
    error = null;
    if (thrown != null) {
      throw thrown;
    }
    if (shut) {
      task.abandon(new RejectedExecutionException("shut"));
      return;
    }
    tasks.add(task);
  }

  /** Runs one task. False if there is none. */
  boolean runOne() {
    Work task = tasks.poll();
    if (task != null) {
      assertThat(task.perform()).isNull();
    }
    return task != null;
  }

  /** The next to hand it work meets this. */
  void breakNext(Error thrown) {
    error = thrown;
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
