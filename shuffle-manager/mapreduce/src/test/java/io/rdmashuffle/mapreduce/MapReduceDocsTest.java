package io.rdmashuffle.mapreduce;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class MapReduceDocsTest {
  private static final Path PAGE = Path.of("../../docs/configuration-mapreduce.md");

  @Test
  void pageMatchesTheOptions() throws IOException {
    if (Boolean.getBoolean("configdocs.write")) {
      MapReduceDocs.main(new String[] {PAGE.toString()});
    }
    assertThat(Files.readString(PAGE))
        .as("docs/configuration-mapreduce.md; write it anew with -Dconfigdocs.write=true")
        .isEqualTo(MapReduceDocs.page());
  }
}
