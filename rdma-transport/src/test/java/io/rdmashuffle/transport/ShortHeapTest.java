package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.SoftAdapter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Fetches while there is no heap: see {@link ShortHeapProgram}. */
final class ShortHeapTest {
  @TempDir Path folder;

  @Test
  void eachBlockIsReportedOnceAndNothingIsLeft() throws Exception {
    SoftAdapter.require();
    List<String> command = ChildJvm.command(ShortHeapProgram.class);
    command.add(command.indexOf("-cp"), "-Xmx24m");
    command.addAll(List.of(folder.toString(), "4"));
    Path log = folder.resolve("log");
    Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
    String told;
    try {
      told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } finally {
      process.destroyForcibly().waitFor();
    }

    System.out.print(told);
    assertThat(told).as("%s", Files.readString(log)).endsWith("nothing is left\n");
  }
}
