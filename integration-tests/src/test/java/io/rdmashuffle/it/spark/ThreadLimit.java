package io.rdmashuffle.it.spark;

import io.rdmashuffle.transport.testing.Requirements;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Takes from running processes the possibility to make threads, as the limit of a container does
 * that is reached. The limit of the kernel binds every user but root.
 */
final class ThreadLimit {
  private static final long LIMIT_S = 10;
  private static final String NOBODY = "65534";

  /** Files of root's home are needed, and its memlock. */
  private static final String CAPABILITIES = "+dac_override,+ipc_lock";

  private ThreadLimit() {}

  /** A command that runs another one so that the limit binds it. */
  static List<String> launcher() throws Exception {
    List<String> words = new ArrayList<>();
    if ("root".equals(System.getProperty("user.name"))) {
      words.addAll(List.of("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"));
      words.addAll(List.of("--inh-caps", CAPABILITIES, "--ambient-caps", CAPABILITIES));
    }
    List<String> trial = new ArrayList<>(words);
    trial.addAll(List.of("prlimit", "--nproc=1:", "true"));
    int exit = new ProcessBuilder(trial).start().waitFor();
    Requirements.require(
        exit == 0, String.join(" ", trial) + " fails with " + exit + " (util-linux has both)");
    return words;
  }

  /** Whoever began under {@link #launcher} makes no thread from now on. */
  static void exhaust(ProcessHandle process) throws Exception {
    set(process, "1:");
  }

  /** Ends it, also if the process has ended. */
  static void relieve(ProcessHandle process) throws Exception {
    String line =
        Files.readAllLines(Path.of("/proc/" + process.pid() + "/limits")).stream()
            .filter(limit -> limit.startsWith("Max processes"))
            .findFirst()
            .orElseThrow();
    set(process, line.split("\\s+")[3] + ":"); // as much as it may have at all
  }

  /** As its own user: root itself may lack the capability for others. */
  private static void set(ProcessHandle process, String limit) throws Exception {
    List<String> words = new ArrayList<>(launcher());
    words.addAll(List.of("prlimit", "--pid", "" + process.pid(), "--nproc=" + limit));
    Process prlimit = new ProcessBuilder(words).start();
    boolean ended = prlimit.waitFor(LIMIT_S, TimeUnit.SECONDS);
    if (process.isAlive() && !(ended && prlimit.exitValue() == 0)) {
      throw new IOException(String.join(" ", words) + " failed");
    }
  }
}
