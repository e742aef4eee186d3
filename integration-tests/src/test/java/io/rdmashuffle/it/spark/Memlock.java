package io.rdmashuffle.it.spark;

import io.rdmashuffle.transport.testing.Requirements;
import java.util.ArrayList;
import java.util.List;

/** Commands that run another one under a memlock limit, also for root, whom none binds. */
final class Memlock {
  private Memlock() {}

  static List<String> of(long bytes) throws Exception {
    List<String> words = new ArrayList<>(List.of("prlimit", "--memlock=" + bytes + ":" + bytes));
    if ("root".equals(System.getProperty("user.name"))) {
      words.addAll(List.of("setpriv", "--bounding-set=-ipc_lock"));
    }
    List<String> trial = new ArrayList<>(words);
    trial.add("true");
    int exit = new ProcessBuilder(trial).start().waitFor();
    Requirements.require(exit == 0, String.join(" ", trial) + " fails with " + exit);
    return words;
  }
}
