package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.HadoopNames;
import io.rdmashuffle.transport.memory.FileGuard;
import io.rdmashuffle.transport.memory.PlacedFile;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.verbs.HeldFile;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.yarn.server.api.AuxiliaryLocalPathHandler;

/**
 * Finds the output of a map attempt where Hadoop's ShuffleHandler finds it, and reads its index.
 * Paths are made of numbers and of a user that was checked; nothing from the network is part of
 * one.
 *
 * <p>The user owns these directories and may put there what he likes, also while they are looked
 * at. So files are held before anything is asked of them ({@link HostMemory#holdBeneath}), which
 * follows no link; what is held is a plain file of the right owner and size or is not served, and
 * is the only one that will be ({@link FileGuard}). Any thread; reads files.
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
  private final Supplier<HostMemory> host;
  private final FileOwners owners;

  /**
   * @param host of the adapter; there is one whenever somebody asks for a map output
   */
  MapOutputLocator(Directories directories, Supplier<HostMemory> host, FileOwners owners) {
    this.directories = directories;
    this.host = host;
    this.owners = owners;
  }

  /**
   * @param attempt of the job
   * @throws IOException if there is no such output, its index is damaged or contradicts the data,
   *     either is no plain file or of another user, or there is a link on the way
   */
  SegmentIndex locate(Job job, TaskAttemptID attempt) throws IOException {
    if (!attempt.getJobID().equals(job.id())) {
      throw new IllegalArgumentException(attempt + " is not of " + job);
    }
    Path folder =
        Path.of(
            USER_CACHE,
            job.user(),
            APPLICATION_CACHE,
            job.application().toString(),
            "output",
            HadoopNames.ofMap(attempt));
    Found index = find(folder.resolve(INDEX));
    long[] numbers = read(index, job);
    return SegmentIndex.of(dataFile(index, folder.resolve(DATA), job), numbers);
  }

  /**
   * Where a file was found, and nothing is known of it yet.
   *
   * @param root the local directory
   * @param relative the rest
   */
  private record Found(Path root, Path relative) {
    Path path() {
      return root.resolve(relative);
    }
  }

  private Found find(Path relative) throws IOException {
    String found = directories.handler().getLocalPathForRead(relative.toString()).toUri().getPath();
    Path path = Path.of(found);
    if (!path.endsWith(relative)) {
      throw new IOException(path + " was found for " + relative);
    }
    Path root = path;
    for (int i = 0; i < relative.getNameCount(); i++) {
      root = root.getParent();
    }
    return new Found(root, relative);
  }

  private long[] read(Found index, Job job) throws IOException {
    try (HeldFile held = hold(index)) {
      look(held, index, job);
      return SpillIndex.read(held.path(), index.path());
    }
  }

  /** Mostly beside the index, but Hadoop may choose another local directory for either. */
  private OutputFile dataFile(Found index, Path relative, Job job) throws IOException {
    Found beside = new Found(index.root(), relative);
    boolean isThere = Files.exists(beside.path(), LinkOption.NOFOLLOW_LINKS);
    Found data = isThere ? beside : find(relative);
    try (HeldFile held = hold(data)) {
      FileGuard guard = look(held, data, job);
      return new OutputFile(
          new PlacedFile(data.path(), data.root(), Optional.of(guard)), Files.size(held.path()));
    }
  }

  private HeldFile hold(Found file) throws IOException {
    return host.get().holdBeneath(file.root(), file.relative());
  }

  private FileGuard look(HeldFile held, Found file, Job job) throws IOException {
    try {
      FileGuard guard = FileGuard.of(held);
      owners.check(held, job);
      return guard;
    } catch (IOException e) {
      throw new IOException(file.path() + " is not served: " + e.getMessage(), e);
    }
  }
}
