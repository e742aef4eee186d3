package io.rdmashuffle.transport.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.ChildJvm;
import io.rdmashuffle.transport.testing.SoftAdapter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Native libraries and directories that cannot be used cost a line, not the process. */
final class LoadingTest {
  @TempDir private Path folder;

  @BeforeEach
  void isBuilt() {
    SoftAdapter.require();
  }

  @Test
  void damagedLibrariesAreRefusedBeforeTheLinkerSeesThem() throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    Process child = start("", temporary, "damaged");
    List<String> lines = child.inputReader().lines().filter(LoadingTest::isReport).toList();

    assertThat(child.waitFor()).as("exit code after %s", lines).isZero();
    assertThat(lines).hasSize(2 * (14 + 5 + 1) + 2);
    assertThat(lines.get(lines.size() - 1)).isEqualTo("intact: loaded, 0 objects");
    assertThat(lines.get(lines.size() - 2))
        .startsWith("other library: CONFIG libdisni.so was loaded, but is not the library of this")
        .contains("NativeExtras.layout()");
    assertThat(lines.subList(0, lines.size() - 2))
        .allSatisfy(
            line ->
                assertThat(line)
                    .containsPattern(": CONFIG native/linux-.*/lib.*\\.so in file:.* is damaged: ")
                    .endsWith(". Replace this jar with an intact copy"));
    assertThat(filesIn(temporary)).isEmpty();
  }

  @Test
  void aProcessKilledWhileItLoadsLeavesItsFolderToTheNextOne() throws Exception {
    Process child = start("", folder, "stop");
    Path unpacked = Path.of(child.inputReader().readLine()).getParent();
    child.destroyForcibly().waitFor();
    assertThat(unpacked).exists().hasParent(folder);
    Files.setLastModifiedTime(unpacked, FileTime.from(Instant.now().minus(Duration.ofHours(1))));

    UnpackedLibraries.write(folder, Map.of()).close();

    assertThat(unpacked).doesNotExist();
  }

  @Test
  void aDirectoryWithoutRoomIsNamedAndLeftClean() throws Exception {
    Process child = start("ulimit -f 40; ", folder, "once"); // blocks of 1 KiB

    assertThat(child.inputReader().lines().filter(LoadingTest::isReport).toList())
        .singleElement()
        .asString()
        .startsWith("CONFIG the native libraries of this jar cannot be written to " + folder)
        .contains("(File too large): set java.io.tmpdir to a directory with");
    assertThat(child.waitFor()).isZero();
    assertThat(filesIn(folder)).isEmpty();
  }

  private static boolean isReport(String line) {
    return !line.contains("INFO");
  }

  private Process start(String before, Path temporary, String mode) throws IOException {
    List<String> java = new ArrayList<>(ChildJvm.command(LoadingProgram.class));
    java.add(1, "-Djava.io.tmpdir=" + temporary);
    java.addAll(List.of(folder.toString(), mode));
    List<String> command = new ArrayList<>(List.of("bash", "-c", before + "exec \"$@\"", "bash"));
    command.addAll(java);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }

  private static List<Path> filesIn(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> !file.getFileName().toString().startsWith("hsperf")).toList();
    }
  }
}
