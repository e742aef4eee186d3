package io.rdmashuffle.mapreduce;

import io.rdmashuffle.core.config.ConfigDocs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes docs/configuration-mapreduce.md from {@link MapReduceOptions}. A test compares the file
 * with it.
 */
public final class MapReduceDocs {
  private static final String HEADER =
      """
      # Configuration in Hadoop MapReduce

      <!-- Generated from MapReduceOptions. After a change there:
           ./mvnw -pl shuffle-manager/mapreduce -am test -Dtest=MapReduceDocsTest -Dconfigdocs.write=true -->

      Keys are given without their prefix: `%1$s` in the configuration of jobs
      (`mapred-site.xml`) and, for the ports, of NodeManagers; `%2$s` for
      the other settings of NodeManagers (`yarn-site.xml`). Sizes are written `64k`, `16m`, `1g` (powers
      of 1024), durations `20us`, `500ms`, `5s`, `1min`. A value outside its range, or a key under a
      prefix that is not listed here, is named in a warning; that NodeManager serves HTTP only then, that
      reduce task fetches by HTTP only. Neither fails.

      RDMA is off in jobs whose shuffle is encrypted (`mapreduce.shuffle.ssl.enabled`): it would carry the
      segments in plain text.
      """
          .formatted(MapReduceOptions.TASK_PREFIX, MapReduceOptions.NODE_PREFIX);

  private MapReduceDocs() {}

  /** The whole page. */
  static String page() {
    StringBuilder page = new StringBuilder(HEADER);
    page.append("\n## ").append(ConfigDocs.table(MapReduceOptions.ports()));
    MapReduceOptions.taskSections().forEach(s -> page.append("\n## ").append(ConfigDocs.table(s)));
    MapReduceOptions.nodeSections().forEach(s -> page.append("\n## ").append(ConfigDocs.table(s)));
    return page.toString();
  }

  /**
   * @param args the file to write
   * @throws IOException if it cannot be written
   */
  public static void main(String[] args) throws IOException {
    Files.writeString(Path.of(args[0]), page());
  }
}
