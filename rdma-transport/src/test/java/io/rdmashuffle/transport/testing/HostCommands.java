package io.rdmashuffle.transport.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Administrators' commands, for tests in machines of their own. */
public final class HostCommands {
  private static final int LIMIT_SECONDS = 120;

  private HostCommands() {}

  /** Starts a shell command that may take its time; {@link #awaitSuccess} later. */
  public static Process start(String command) throws Exception {
    return new ProcessBuilder("bash", "-c", command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  /** Waits until a command that was started has succeeded, within the same limit. */
  public static void awaitSuccess(Process process) throws Exception {
    assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).as("ends in time").isTrue();
    assertThat(process.exitValue()).isZero();
  }

  /** Runs a shell command, which must succeed in time. Returns what it printed. */
  public static String run(String command) throws Exception {
    Process process = new ProcessBuilder("bash", "-c", command).redirectErrorStream(true).start();
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly(); // its output goes with it
      throw new AssertionError(command + " did not end within " + LIMIT_SECONDS + " s");
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.exitValue()).as("%s: %s", command, output).isZero();
    return output;
  }
}
