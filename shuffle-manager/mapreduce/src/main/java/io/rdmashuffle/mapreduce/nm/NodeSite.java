package io.rdmashuffle.mapreduce.nm;

import java.nio.file.Path;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;

/**
 * The NodeManager that a server runs in.
 *
 * @param conf its configuration
 * @param httpPort of its shuffle
 * @param directories how it finds files
 * @param recovery where it keeps what it needs after a restart; empty if it does not
 */
record NodeSite(
    Configuration conf,
    int httpPort,
    MapOutputLocator.Directories directories,
    Optional<Path> recovery) {
  /** For logs and names of threads; several NodeManagers may be in one process in tests. */
  String name() {
    return "nodemanager " + httpPort;
  }
}
