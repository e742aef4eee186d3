package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.LogLimit;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says what keeps blocks from coming by RDMA: once per file or map output, and, as readers choose
 * what they ask for, one line a minute per reader's address and per kind of failure. Any thread.
 */
final class Reports {
  private static final Logger LOG = LoggerFactory.getLogger(Reports.class);
  private static final int REMEMBERED = 1024;

  private record Output(long scope, int group, long output) {}

  private final LogLimit limit;
  private final Set<Object> reported =
      Collections.synchronizedSet(
          Collections.newSetFromMap(
              new LinkedHashMap<>() {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<Object, Boolean> eldest) {
                  return size() > REMEMBERED;
                }
              }));

  Reports(NanoClock clock) {
    this.limit = new LogLimit(clock);
  }

  /** As {@link LogLimit#log}. */
  void limited(Object key, Consumer<String> line) {
    limit.log(key, line);
  }

  /**
   * @param host of the reader that asked
   */
  void catalogFailed(String host, long scope, BlockKey key, Throwable cause) {
    if (reported.add(new Output(scope, key.group(), key.output()))) {
      limited(
          host,
          more ->
              LOG.warn(
                  "Map output {} of group {}, which {} asks for, cannot be looked up, its readers"
                      + " take the engine's shuffle: {}{}",
                  key.output(),
                  key.group(),
                  host,
                  cause,
                  more));
    }
  }

  /** A job ended with an error that none should end with. */
  void jobFailed(Throwable cause) {
    limited(
        "jobs",
        more ->
            LOG.error(
                "A job of the block server failed, its blocks are left to the engine{}",
                more,
                cause));
  }

  void fileFailed(OutputFile file, FallbackReason reason, Throwable cause) {
    if (reported.add(file)) {
      limited(
          reason,
          more ->
              LOG.warn(
                  "Blocks of {} are left to the engine's shuffle ({}): {}{}",
                  file,
                  reason.label(),
                  cause.toString(),
                  more));
    }
  }
}
