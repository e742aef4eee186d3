package io.rdmashuffle.it.app;

import java.io.IOException;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;

/** A process of this host that stands still for a while, by SIGSTOP and SIGCONT. */
final class Standstill {
  private static final long KILL_LIMIT_S = 10;

  private Standstill() {}

  /**
   * Called in a task on {@code local-cluster}, where the executors are children of one driver. The
   * other executor stands when this returns.
   */
  static void ofAnotherExecutor(int seconds) throws IOException, InterruptedException {
    ProcessHandle self = ProcessHandle.current();
    ProcessHandle other =
        self.parent()
            .orElseThrow()
            .children()
            .filter(process -> process.pid() != self.pid() && isExecutor(process))
            .min(Comparator.comparing(ProcessHandle::pid))
            .orElseThrow(() -> new IllegalStateException("there is no other executor"));
    String pid = String.valueOf(other.pid());
    Process kill = new ProcessBuilder("kill", "-STOP", pid).start();
    if (!kill.waitFor(KILL_LIMIT_S, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new IOException("kill -STOP " + pid + " failed");
    }
    var unused = new ProcessBuilder("sh", "-c", "sleep " + seconds + "; kill -CONT " + pid).start();
  }

  private static boolean isExecutor(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains("CoarseGrainedExecutorBackend");
  }
}
