package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.transport.memory.PlacedFile;
import io.rdmashuffle.transport.server.OutputFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
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

  /** How the NodeManager finds a file in its directories; asked each time, as disks come and go. */
  interface Directories {
    AuxiliaryLocalPathHandler handler();
  }

  private final Directories directories;

  MapOutputLocator(Directories directories) {
    this.directories = directories;
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
    plainFile(index);
    long[] numbers = SpillIndex.read(index);
    return SegmentIndex.of(dataFile(index, folder + "/" + DATA), numbers);
  }

  private Path find(String relative) throws IOException {
    return Path.of(directories.handler().getLocalPathForRead(relative).toUri().getPath());
  }

  /** Mostly beside the index, but Hadoop may choose another local directory for either. */
  private OutputFile dataFile(Path index, String relative) throws IOException {
    Path beside = index.resolveSibling(DATA);
    Path path = Files.exists(beside, LinkOption.NOFOLLOW_LINKS) ? beside : find(relative);
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
}
