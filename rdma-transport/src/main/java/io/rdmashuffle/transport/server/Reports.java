package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Says once per file, or map output, what keeps its blocks from coming by RDMA. Any thread. */
final class Reports {
  private static final Logger LOG = LoggerFactory.getLogger(Reports.class);
  private static final int REMEMBERED = 1024;

  private record Output(long scope, int group, long output) {}

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

  void catalogFailed(long scope, BlockKey key, Throwable cause) {
    if (reported.add(new Output(scope, key.group(), key.output()))) {
      LOG.warn(
          "Map output {} of group {} cannot be looked up, its readers take the engine's shuffle",
          key.output(),
          key.group(),
          cause);
    }
  }

  /** A job ended with an error that none should end with. */
  void jobFailed(Throwable cause) {
    LOG.error("A job of the block server failed, its blocks are left to the engine", cause);
  }

  void fileFailed(OutputFile file, FallbackReason reason, Throwable cause) {
    if (reported.add(file)) {
      LOG.warn(
          "Blocks of {} are left to the engine's shuffle ({}): {}",
          file,
          reason.label(),
          cause.toString());
    }
  }
}
