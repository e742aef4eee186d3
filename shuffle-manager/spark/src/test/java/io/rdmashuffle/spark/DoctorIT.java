package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.Requirements;
import io.rdmashuffle.transport.testing.SoftAdapter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code java -jar} of the jar that users deploy, with nothing else on the class path. */
final class DoctorIT {
  private static final String JAR = System.getProperty("plugin.jar");
  private static final long LIMIT_S = 60;

  @TempDir Path folder;

  private record Result(int exit, String output) {}

  private static Process start(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-jar", JAR));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  private static Result run(String... arguments) throws Exception {
    Process process = start(arguments);
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(LIMIT_S, TimeUnit.SECONDS)).isTrue();
    return new Result(process.exitValue(), output);
  }

  private Result onSoft(String... more) throws Exception {
    SoftAdapter.require();
    List<String> arguments = new ArrayList<>(List.of("--device", "soft", "--dir", "" + folder));
    arguments.addAll(List.of(more));
    return run(arguments.toArray(String[]::new));
  }

  @Test
  void itReadsFromItselfThroughEachFolder() throws Exception {
    Result result = onSoft();
    assertThat(result.output())
        .contains("choice     soft0")
        .contains("libsofthca.so")
        .contains(folder + ": registered in place, READ works")
        .contains("RDMA will work here");
    assertThat(result.exit()).isZero();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void aFolderThatCannotBeWrittenFailsWithTheRemedy() throws Exception {
    Result result = onSoft("--dir", "/proc/self");
    assertThat(result.output()).contains("failed   folder     /proc/self").contains("->");
    assertThat(result.exit()).isEqualTo(1);
  }

  @Test
  void itReadsFromTheDoctorOfAnotherHost() throws Exception {
    onSoft();
    Process listening = start("--device", "soft", "--dir", "" + folder, "--listen");
    try (BufferedReader output =
        new BufferedReader(
            new InputStreamReader(listening.getInputStream(), StandardCharsets.UTF_8))) {
      String line = output.readLine();
      while (line != null && !line.contains("--peer ")) {
        line = output.readLine();
      }
      assertThat(line).as("line with the code").isNotNull();
      String code = line.substring(line.indexOf("--peer ") + "--peer ".length());

      Result result = onSoft("--peer", code);
      assertThat(result.output()).contains("peer").contains("READ works");
      assertThat(result.exit()).isZero();

      String wrongSecret = code.substring(0, code.length() - 2) + "00";
      Result refused = onSoft("--peer", wrongSecret.equals(code) ? code + "00" : wrongSecret);
      assertThat(refused.output()).contains("no READ: connect-failed");
      assertThat(refused.exit()).isEqualTo(1);
      listening.getOutputStream().close(); // as if Enter were pressed
      assertThat(listening.waitFor(LIMIT_S, TimeUnit.SECONDS)).isTrue();
      assertThat(folder).isEmptyDirectory();
    } finally {
      listening.destroy();
    }
  }

  @Test
  void withoutAnAdapterItSaysWhyAsADocumentToo() throws Exception {
    Requirements.require(
        !Files.isDirectory(Path.of("/sys/class/infiniband")), "this host has an RDMA adapter");
    Result result = run("--json");
    assertThat(result.output())
        .contains("\"verdict\": \"failed\"")
        .contains("\"text\": \"no RDMA adapter");
    assertThat(result.exit()).isEqualTo(1);
  }

  @Test
  void wrongArgumentsAreNamed() throws Exception {
    Result result = run("--bogus");
    assertThat(result.output()).contains("unknown argument --bogus").contains("--device");
    assertThat(result.exit()).isEqualTo(2);
  }
}
