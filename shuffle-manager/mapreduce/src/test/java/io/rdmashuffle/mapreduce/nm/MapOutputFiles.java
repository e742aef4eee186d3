package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.IndexRecord;
import org.apache.hadoop.mapred.SpillRecord;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.TaskType;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** Map outputs where a NodeManager has them, with random content. */
final class MapOutputFiles {
  static final String USER = "alice";
  static final byte[] SECRET = "shuffle!".getBytes(StandardCharsets.US_ASCII);

  /** What is said of a segment besides its bytes: any number does, if it is found again. */
  static final long RAW_FACTOR = 3;

  private static final String DATA = "file.out";
  private static final String INDEX = DATA + ".index";

  private final Path localDirectory;

  MapOutputFiles(Path localDirectory) {
    this.localDirectory = localDirectory;
  }

  static Job job(int id) {
    return new Job(ApplicationId.newInstance(1_700_000_000_000L, id), USER, SECRET);
  }

  static TaskAttemptID attempt(Job job, int map) {
    return new TaskAttemptID(job.id().getJtIdentifier(), job.id().getId(), TaskType.MAP, map, 0);
  }

  /** Of the first piece of a segment, which is all of a small one. */
  static BlockKey key(Job job, int map, int reduce) {
    return MapOutputKeys.pieceKeyOf(attempt(job, map), reduce, 0);
  }

  /** A configuration that names the local directory. */
  Configuration conf() {
    Configuration conf = new Configuration(false);
    conf.set(YarnConfiguration.NM_LOCAL_DIRS, localDirectory.toString());
    return conf;
  }

  MapOutputLocator locator() {
    return locator(conf(), FileOwners.ANY);
  }

  /** Over the in-memory fake, which follows no links either, as long as nobody swaps anything. */
  static MapOutputLocator locator(Configuration conf, FileOwners owners) {
    LocalPaths paths = new LocalPaths(conf);
    HostMemory host = FakeFabric.immediate().newProcess(Long.MAX_VALUE, 4096).hostMemory();
    return new MapOutputLocator(() -> paths, () -> host, owners);
  }

  Path folder(Job job, int map) {
    return folder(job, attempt(job, map));
  }

  private Path folder(Job job, TaskAttemptID attempt) {
    return localDirectory.resolve(
        "usercache/%s/appcache/%s/output/%s".formatted(job.user(), job.application(), attempt));
  }

  Path data(Job job, int map) {
    return folder(job, map).resolve(DATA);
  }

  Path index(Job job, int map) {
    return folder(job, map).resolve(INDEX);
  }

  /** Writes an output with a segment of each of these sizes. */
  byte[][] write(Job job, int map, int... segmentBytes) throws IOException {
    byte[] content = new byte[Arrays.stream(segmentBytes).sum()];
    new Random(map * 31L + job.application().getId()).nextBytes(content);
    Files.createDirectories(folder(job, map));
    Files.write(data(job, map), content);
    IndexRecord[] records = new IndexRecord[segmentBytes.length];
    byte[][] segments = new byte[segmentBytes.length][];
    int offset = 0;
    for (int reduce = 0; reduce < records.length; reduce++) {
      int bytes = segmentBytes[reduce];
      records[reduce] = new IndexRecord(offset, bytes * RAW_FACTOR, bytes);
      segments[reduce] = Arrays.copyOfRange(content, offset, offset + bytes);
      offset += bytes;
    }
    writeIndex(job, map, records);
    return segments;
  }

  /** Writes the output of an attempt that has one segment. */
  void write(Job job, TaskAttemptID attempt, byte[] segment, long rawBytes) throws IOException {
    Path folder = folder(job, attempt);
    Files.createDirectories(folder);
    Files.write(folder.resolve(DATA), segment);
    writeIndex(folder.resolve(INDEX), new IndexRecord(0, rawBytes, segment.length));
  }

  /** An output that takes no room on disk but for a few bytes at its end. */
  void writeSparse(Job job, int map, long bytes) throws IOException {
    Files.createDirectories(folder(job, map));
    try (FileChannel file =
        FileChannel.open(data(job, map), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4}), bytes - 4);
    }
    writeIndex(job, map, new IndexRecord(0, bytes, bytes - 4), new IndexRecord(bytes - 4, 4, 4));
  }

  /** As {@link SpillRecord} does, which starts a chmod for each file. */
  void writeIndex(Job job, int map, IndexRecord... records) throws IOException {
    writeIndex(index(job, map), records);
  }

  private static void writeIndex(Path file, IndexRecord... records) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(records.length * 24 + 8);
    for (IndexRecord record : records) {
      bytes.putLong(record.startOffset).putLong(record.rawLength).putLong(record.partLength);
    }
    CRC32 crc = new CRC32();
    crc.update(bytes.array(), 0, bytes.position());
    Files.write(file, bytes.putLong(crc.getValue()).array());
  }
}
