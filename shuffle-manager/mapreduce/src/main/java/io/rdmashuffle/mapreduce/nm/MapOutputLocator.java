package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.transport.memory.PlacedFile;
import io.rdmashuffle.transport.server.OutputFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;

/**
 * Finds the output of a map attempt where Hadoop's ShuffleHandler finds it, and reads its index.
 * Paths are made of numbers and of a user that was checked; nothing from the network is part of
 * one.
 *
 * <p>The user owns these directories and may put there what he likes: what is found is a plain file
 * of the right size or is not served, and the file that was looked at is the only one that will be
 * ({@link OutputFile}). Any thread; reads files.
 */
final class MapOutputLocator {
  private static final String USER_CACHE = "usercache"; // ContainerLocalizer.USERCACHE
  private static final String APPLICATION_CACHE = "appcache"; // ContainerLocalizer.APPCACHE
  private static final String DATA = "file.out"; // MapOutputFile.MAP_OUTPUT_FILENAME_STRING
  private static final String INDEX = DATA + ".index";

  /** In the index file: three longs per segment, and a checksum behind the last. */
  private static final int SEGMENT_BYTES = 24;

  private static final int CHECKSUM_BYTES = 8;

  /** Of an index: more than two million reduces. */
  private static final long LONGEST_INDEX_BYTES = 64L << 20;

  /** How the NodeManager finds a file in its directories; asked each time, as disks come and go. */
  interface Directories {
    AuxiliaryLocalPathHandler handler();
  }

  private final Directories directories;
  private final JobConf conf;

  MapOutputLocator(Directories directories, Configuration conf) {
    this.directories = directories;
    this.conf = new JobConf(conf);
  }

  /**
   * @param attempt of the job
   * @throws IOException if there is no such output, its index is damaged or contradicts the data,
   *     or either is no plain file
   */
  SegmentIndex locate(Job job, TaskAttemptID attempt) throws IOException {
    if (!attempt.getJobID().equals(job.id())) {
      throw new IllegalArgumentException(attempt + " is not of " + job);
    }
    String folder =
        String.join(
            "/",
            USER_CACHE,
            job.user(),
            APPLICATION_CACHE,
            job.application().toString(),
            "output",
            attempt.toString());
    Path index = find(folder + "/" + INDEX);
    requireWholeIndex(index);
    SpillRecord segments = read(index, job.user());
    return SegmentIndex.of(dataFile(folder + "/" + DATA), segments);
  }

  private Path find(String relative) throws IOException {
    return Path.of(directories.handler().getLocalPathForRead(relative).toUri().getPath());
  }

  private OutputFile dataFile(String relative) throws IOException {
    Path path = find(relative);
    BasicFileAttributes found = plainFile(path);
    return new OutputFile(
        new PlacedFile(path, root(path, relative)), found.size(), found.fileKey());
  }

  /** The local directory that the file was found in. */
  private static Path root(Path path, String relative) throws IOException {
    Path tail = Path.of(relative);
    if (!path.endsWith(tail)) {
      throw new IOException(path + " was found for " + relative);
    }
    Path root = path;
    for (int i = 0; i < tail.getNameCount(); i++) {
      root = root.getParent();
    }
    return root;
  }

  private static BasicFileAttributes plainFile(Path path) throws IOException {
    BasicFileAttributes found =
        Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!found.isRegularFile()) {
      throw new IOException(path + " is no plain file");
    }
    return found;
  }

  /** Hadoop believes the length, and makes a buffer of it. */
  private static void requireWholeIndex(Path index) throws IOException {
    long bytes = plainFile(index).size();
    boolean whole = bytes > CHECKSUM_BYTES && (bytes - CHECKSUM_BYTES) % SEGMENT_BYTES == 0;
    if (!whole || bytes > LONGEST_INDEX_BYTES) {
      throw new IOException(index + " of " + bytes + " bytes is no index of a map output");
    }
  }

  /** Checks the checksum and, in a secure cluster, the owner. */
  private SpillRecord read(Path index, String user) throws IOException {
    try {
      return new SpillRecord(new org.apache.hadoop.fs.Path(index.toUri()), conf, user);
    } catch (FileNotFoundException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new IOException(index + " cannot be read", e);
    }
  }
}
