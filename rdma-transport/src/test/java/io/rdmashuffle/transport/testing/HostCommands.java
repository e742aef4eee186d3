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
    boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      process.destroyForcibly();
    }
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(ended).as("%s ends in time: %s", command, output).isTrue();
    assertThat(process.exitValue()).as("%s: %s", command, output).isZero();
    return output;
  }
}
