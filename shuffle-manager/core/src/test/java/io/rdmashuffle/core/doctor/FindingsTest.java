package io.rdmashuffle.core.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class FindingsTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  private Findings findings(boolean json) {
    return new Findings(new PrintStream(bytes, true, StandardCharsets.UTF_8), json);
  }

  private String printed() {
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void theVerdictIsTheWorstFinding() {
    Findings findings = findings(false);
    assertThat(findings.verdict()).isEqualTo(Finding.Status.OK);
    findings.add(Finding.warning("memlock", "too little", "raise it"));
    findings.add(Finding.ok("port", "fine"));
    assertThat(findings.verdict()).isEqualTo(Finding.Status.WARNING);
    findings.add(Finding.failed("choice", "none", ""));
    assertThat(findings.verdict()).isEqualTo(Finding.Status.FAILED);
  }

  @Test
  void aLineHasStatusCheckTextAndRemedy() {
    findings(false).add(Finding.warning("memlock", "too little", "raise it"));
    assertThat(printed().lines())
        .containsExactly("warning  memlock    too little", " ".repeat(20) + "-> raise it");
  }

  @Test
  void jsonEscapesWhatItMust() {
    Findings findings = findings(true);
    findings.add(Finding.failed("folder", "C:\\ \"x\"\n", ""));
    findings.finish();
    assertThat(printed())
        .contains("\"verdict\": \"failed\"")
        .contains("\"text\": \"C:\\\\ \\\"x\\\"\\u000a\"");
  }
}
