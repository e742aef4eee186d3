package io.rdmashuffle.mapreduce;

import io.rdmashuffle.core.config.ConfigDocs;
import io.rdmashuffle.transport.server.ServerSettings;
import io.rdmashuffle.transport.wire.WireLimits;
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

  private static final int EXAMPLE_CONNECTIONS = 1024;
  private static final int EXAMPLE_REQUESTS = 4;
  private static final int FRAMES_BYTES = 2 * (EXAMPLE_REQUESTS + 1) * WireLimits.FRAME_BYTES;

  /** The figures of the example follow from the bounds of the protocol. */
  private static final String COST =
      """

      ## What jobs cost a NodeManager at most

      With the settings of NodeManagers above, whatever the jobs and their users do, for *n* jobs that
      have readers at a time:

      | what | at most | with the defaults |
      |---|---|---|
      | registered memory, all jobs together | `memory.registered.max`, or less by the memlock limit | 1 GiB |
      | of that, messages | `connections.max` x 2 x (`requests.inflight` + 1) x 8 KiB | %1$d MiB |
      | of that, staging of one job | `staging.size`; for n > 1 not more than a quarter of `memory.registered.max` / n, but 16 chunks of 128 KiB | 32 MiB; 12.8 MiB each of 20 jobs |
      | of that, windows | what is left; idle windows of any job go when another needs the room | |
      | connections | `connections.max`; one job half of what the others leave, but two | 1024; 512 of one job |
      | leases of one connection | 4 x (`requests.inflight` + 1), each of 256 blocks and about 1 KiB of heap | %2$d; %3$d MiB for all connections |
      | blocks being looked up, all jobs together | %4$d, about 250 bytes of heap each until they are answered; one job half of what the others leave, but one for each request | %5$d MiB; %6$d MiB of one job |
      | map outputs known of one job | 65,536, about 0.5 KiB of heap each, and up to 50 KiB for one of more than 512 windows | 32 MiB |
      | threads | as many as for one job | |
      | log lines that readers can cause | one a minute for each of up to 257 addresses before authentication, as many after it, and one for each kind of failure of a file | |

      A job that ends, and a reader that disconnects, gives back all of it. A reader that holds more leases
      than that loses its connection.
      """
          .formatted(
              (EXAMPLE_CONNECTIONS * FRAMES_BYTES) >> 20,
              WireLimits.mostLeases(EXAMPLE_REQUESTS + 1),
              (EXAMPLE_CONNECTIONS * WireLimits.mostLeases(EXAMPLE_REQUESTS + 1)) >> 10,
              ServerSettings.MOST_KEYS,
              ServerSettings.MOST_KEYS >> 12,
              ServerSettings.MOST_KEYS >> 13);

  private MapReduceDocs() {}

  /** The whole page. */
  static String page() {
    StringBuilder page = new StringBuilder(HEADER);
    page.append("\n## ").append(ConfigDocs.table(MapReduceOptions.ports()));
    MapReduceOptions.taskSections().forEach(s -> page.append("\n## ").append(ConfigDocs.table(s)));
    MapReduceOptions.nodeSections().forEach(s -> page.append("\n## ").append(ConfigDocs.table(s)));
    return page.append(COST).toString();
  }

  /**
   * @param args the file to write
   * @throws IOException if it cannot be written
   */
  public static void main(String[] args) throws IOException {
    Files.writeString(Path.of(args[0]), page());
  }
}
