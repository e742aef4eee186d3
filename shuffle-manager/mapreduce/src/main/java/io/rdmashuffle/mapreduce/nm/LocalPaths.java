package io.rdmashuffle.mapreduce.nm;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.LocalDirAllocator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;

/**
 * Finds files in the NodeManager's local directories where nobody else tells how: with a class path
 * of its own ({@code yarn.nodemanager.aux-services.NAME.classpath}) an auxiliary service sits
 * behind {@code AuxiliaryServiceWithCustomClassLoader}, which does not pass the handler on, and the
 * shuffle would fail with a NullPointerException. Unlike that handler it does not know which disks
 * the NodeManager has given up.
 */
final class LocalPaths implements AuxiliaryLocalPathHandler {
  private final LocalDirAllocator directories =
      new LocalDirAllocator(YarnConfiguration.NM_LOCAL_DIRS);
  private final Configuration conf;

  LocalPaths(Configuration conf) {
    this.conf = conf;
  }

  @Override
  public Path getLocalPathForRead(String path) throws IOException {
    return directories.getLocalPathToRead(path, conf);
  }

  @Override
  public Path getLocalPathForWrite(String path) throws IOException {
    return directories.getLocalPathForWrite(path, conf);
  }

  @Override
  public Path getLocalPathForWrite(String path, long size) throws IOException {
    return directories.getLocalPathForWrite(path, size, conf);
  }

  @Override
  public Iterable<Path> getAllLocalPathsForRead(String path) throws IOException {
    return directories.getAllLocalPathsToRead(path, conf);
  }
}
