package io.rdmashuffle.it.app;

import java.io.IOException;

/** A process of this host that stands still for a while, by SIGSTOP and SIGCONT. */
final class Standstill {
  private Standstill() {}

  /**
   * Called in a task on {@code local-cluster}, where the executors are children of one driver. The
   * other executor stands when this returns.
   */
  static void ofAnotherExecutor(int seconds) throws IOException, InterruptedException {
    ProcessHandle self = ProcessHandle.current();
    ProcessHandle other =
        ExecutorProcesses.of(self.parent().orElseThrow()).stream()
            .filter(process -> process.pid() != self.pid())
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("there is no other executor"));
    ExecutorProcesses.signal("STOP", other);
    var unused =
        new ProcessBuilder("sh", "-c", "sleep " + seconds + "; kill -CONT " + other.pid()).start();
  }
}
