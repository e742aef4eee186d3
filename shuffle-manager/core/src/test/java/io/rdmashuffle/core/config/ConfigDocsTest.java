package io.rdmashuffle.core.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class ConfigDocsTest {
  private static final Path PAGE = Path.of("../../docs/configuration.md");

  @Test
  void pageMatchesTheOptions() throws IOException {
    if (Boolean.getBoolean("configdocs.write")) {
      ConfigDocs.main(new String[] {PAGE.toString()});
    }
    assertThat(Files.readString(PAGE))
        .as("docs/configuration.md; write it anew with -Dconfigdocs.write=true")
        .isEqualTo(ConfigDocs.page());
  }
}
