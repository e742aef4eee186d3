package io.rdmashuffle.core.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.SoftAdapter;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DoctorProgramTest {
  @TempDir private Path folder;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  @BeforeEach
  void needsTheLibraries() {
    SoftAdapter.require();
  }

  private int run(String... more) {
    String[] arguments = {"--device", "soft", "--dir", folder.toString(), more[0], more[1]};
    return DoctorProgram.run(arguments, new PrintStream(out, true, StandardCharsets.UTF_8));
  }

  @Test
  void memoryThatHoldsNoConnectionFailsWithTheLimitAndTheRemedy() {
    assertThat(run("--need", "64k")).isEqualTo(1);

    assertThat(out.toString(StandardCharsets.UTF_8))
        .contains("no connection has room", "of 64 KiB (--need)", "; raise it")
        .doesNotContain("name a folder");
  }
}
