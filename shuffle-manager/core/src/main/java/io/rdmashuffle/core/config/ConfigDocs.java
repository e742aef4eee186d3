package io.rdmashuffle.core.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes docs/configuration.md from {@link RdmaOptions}. A test compares the file with it. */
public final class ConfigDocs {
  private static final String HEADER =
      """
      # Configuration

      <!-- Generated from RdmaOptions. After a change there:
           ./mvnw -pl shuffle-manager/core -am test -Dtest=ConfigDocsTest -Dconfigdocs.write=true -->

      Keys are given without their prefix: `spark.shuffle.rdma.` in Spark; those of MapReduce
      are in [configuration-mapreduce.md](configuration-mapreduce.md). Sizes are written `64k`, `16m`, `1g` (powers of 1024), durations `20us`, `500ms`, `5s`,
      `1min`. A value outside its range, or a key under the prefix that is not listed here, stops start-up
      with a message naming it.
      """;

  private ConfigDocs() {}

  /** The whole page. */
  static String page() {
    StringBuilder page = new StringBuilder(HEADER);
    RdmaOptions.sections().forEach(section -> page.append("\n## ").append(table(section)));
    return page.toString();
  }

  /** The options of one topic under its title, for pages of engines with settings of their own. */
  public static String table(OptionSection section) {
    StringBuilder table = new StringBuilder(section.title()).append("\n\n");
    table.append("| key | default | range | meaning |\n|---|---|---|---|\n");
    section.options().forEach(option -> table.append(row(option)));
    return table.toString();
  }

  private static String row(ConfigOption<?> option) {
    return "| `%s` | %s | %s | %s |\n"
        .formatted(option.key(), option.defaultText(), option.range(), option.doc());
  }

  /**
   * @param args the file to write
   * @throws IOException if it cannot be written
   */
  public static void main(String[] args) throws IOException {
    Files.writeString(Path.of(args[0]), page());
  }
}
