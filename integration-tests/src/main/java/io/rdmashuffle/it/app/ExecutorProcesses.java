package io.rdmashuffle.it.app;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The executors of a driver on this host as processes, which may be killed or stopped. */
public final class ExecutorProcesses {
  private static final long KILL_LIMIT_S = 10;

  private ExecutorProcesses() {}

  /** Oldest first. */
  public static List<ProcessHandle> of(ProcessHandle driver) {
    return driver
        .descendants()
        .filter(p -> p.info().commandLine().orElse("").contains("CoarseGrainedExecutorBackend"))
        .sorted(Comparator.comparing(ProcessHandle::pid))
        .toList();
  }

  /** kill(1) of one process, whose pid is known to be ours. */
  public static void signal(String signal, ProcessHandle process)
      throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid())).start();
    if (!kill.waitFor(KILL_LIMIT_S, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new IOException("kill -" + signal + " " + process.pid() + " failed");
    }
  }

  /** Ends a process and waits for its end: nobody may take it for one that is well. */
  public static void kill(ProcessHandle process) throws Exception {
    signal("KILL", process);
    process.onExit().get(KILL_LIMIT_S, TimeUnit.SECONDS);
  }
}
