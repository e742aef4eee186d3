package io.rdmashuffle.mapreduce.nm;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.zip.CRC32;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs of this NodeManager on disk, for its next start: Hadoop does not tell an auxiliary
 * service again of the containers that ran before a restart. One file per job, which only the
 * NodeManager's user may read, as it holds the job's shuffle secret.
 *
 * <p>A file that cannot be read costs that job RDMA on this node, nothing else; it is deleted. One
 * of a later release is left for that.
 *
 * <p><b>Threads:</b> one at a time.
 */
final class JobStore implements JobRegistry.Store {
  private static final Logger LOG = LoggerFactory.getLogger(JobStore.class);
  private static final int MAGIC = 0x5244_534a; // "RDSJ"
  private static final int VERSION = 1;
  private static final int LONGEST_FILE_BYTES = 64 << 10;
  private static final String SUFFIX = ".job";
  private static final String UNFINISHED = ".tmp";
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
  private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY_DIRECTORY =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final Path directory;

  private JobStore(Path directory) {
    this.directory = directory;
  }

  /**
   * Creates the directory if it is missing.
   *
   * @throws IOException if it cannot be used
   */
  static JobStore open(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      Files.createDirectories(directory.toAbsolutePath().getParent());
      Files.createDirectory(directory, OWNER_ONLY_DIRECTORY);
    }
    return new JobStore(directory);
  }

  /** Replaces what is there of the job. */
  @Override
  public void save(Job job) throws IOException {
    Path unfinished = directory.resolve(job.application() + UNFINISHED);
    Files.deleteIfExists(unfinished);
    Set<StandardOpenOption> options =
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    try (FileChannel file = FileChannel.open(unfinished, options, OWNER_ONLY)) {
      ByteBuffer bytes = ByteBuffer.wrap(encode(job));
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
      file.force(true);
    }
    Files.move(unfinished, fileOf(job.application()), StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void delete(ApplicationId application) throws IOException {
    Files.deleteIfExists(fileOf(application));
  }

  private Path fileOf(ApplicationId application) {
    return directory.resolve(application + SUFFIX);
  }

  /**
   * {@inheritDoc}
   *
   * @throws IOException if the directory cannot be listed
   */
  @Override
  public List<Job> load() throws IOException {
    List<Job> jobs = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        if (name.endsWith(UNFINISHED)) {
          Files.delete(file);
        } else if (name.endsWith(SUFFIX)) {
          load(file, jobs);
        }
      }
    }
    return jobs;
  }

  private void load(Path file, List<Job> jobs) throws IOException {
    try {
      Job job = decode(read(file));
      if (!file.equals(fileOf(job.application()))) {
        throw new IOException("it is of " + job.application());
      }
      jobs.add(job);
    } catch (LaterVersionException e) {
      LOG.warn("{} is not recovered, its reducers take HTTP: {}", file, e.getMessage());
    } catch (IOException | IllegalArgumentException e) {
      LOG.warn("{} is damaged and deleted, the job's reducers take HTTP: {}", file, e.toString());
      Files.deleteIfExists(file);
    }
  }

  private static byte[] read(Path file) throws IOException {
    long bytes = Files.size(file);
    if (bytes > LONGEST_FILE_BYTES) {
      throw new IOException(bytes + " bytes, the limit is " + LONGEST_FILE_BYTES);
    }
    return Files.readAllBytes(file);
  }

  private static byte[] encode(Job job) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(MAGIC);
    out.writeInt(VERSION);
    out.writeLong(job.application().getClusterTimestamp());
    out.writeInt(job.application().getId());
    out.writeUTF(job.user());
    out.writeShort(job.shuffleSecret().length);
    out.write(job.shuffleSecret());
    out.writeLong(checksum(bytes.toByteArray(), bytes.size()));
    return bytes.toByteArray();
  }

  private static Job decode(byte[] bytes) throws IOException {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      if (in.readInt() != MAGIC) {
        throw new IOException("it does not begin as it should");
      }
      int version = in.readInt();
      if (version > VERSION) {
        throw new LaterVersionException(version);
      }
      ApplicationId application = ApplicationId.newInstance(in.readLong(), in.readInt());
      String user = in.readUTF();
      byte[] secret = new byte[in.readUnsignedShort()];
      in.readFully(secret);
      long expected = checksum(bytes, bytes.length - in.available());
      if (in.readLong() != expected || in.available() != 0) {
        throw new IOException("the checksum does not match");
      }
      return new Job(application, user, secret);
    }
  }

  private static long checksum(byte[] bytes, int length) {
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, length);
    return crc.getValue();
  }

  /** Written by a release that knows more than this one. */
  private static final class LaterVersionException extends IOException {
    private static final long serialVersionUID = 1L;

    LaterVersionException(int version) {
      super("it has version " + version + ", this release reads up to " + VERSION);
    }
  }
}
