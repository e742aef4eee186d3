package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.mapreduce.JobCredential;
import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.mapreduce.nm.SoftReader.Fetched;
import io.rdmashuffle.mapreduce.reduce.Segment;
import io.rdmashuffle.mapreduce.reduce.SegmentBatch;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.client.Block.Source;
import io.rdmashuffle.transport.testing.SoftAdapter;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** A NodeManager's server and reducers, each with a transport on the software adapter. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class NodeServerTest {
  private static final Job JOB = MapOutputFiles.job(7);
  private static final Job OTHER =
      new Job(MapOutputFiles.job(8).application(), MapOutputFiles.USER, new byte[] {8, 8, 8});
  private static final String NODE = "mapreduce.shuffle.rdma.nodemanager.";

  @TempDir Path directory;
  private DisniProvider soft;
  private MapOutputFiles files;
  private Path recovery;
  private Configuration conf;
  private int port;
  private NodeServer server;
  private final List<SoftReader> readers = new ArrayList<>();

  @BeforeAll
  void load() {
    soft = SoftAdapter.load();
  }

  @AfterAll
  void unload() {
    if (soft != null) {
      soft.close();
    }
  }

  @BeforeEach
  void prepare() throws IOException {
    Path root = Files.createTempDirectory(directory, "node");
    files = new MapOutputFiles(Files.createDirectory(root.resolve("local")));
    recovery = root.resolve("recovery");
    conf = files.conf();
    conf.set(NODE + "device", "soft");
    conf.set(NODE + "bind.address", "127.0.0.0/8");
    port = FreePort.find();
    conf.setInt("mapreduce.shuffle.rdma.port", port);
  }

  @AfterEach
  void nothingIsLeft() {
    readers.forEach(SoftReader::close);
    readers.clear();
    if (server != null) {
      stop();
    }
    assertThat(soft.openObjects()).isZero();
    Waiting.untilThreadsAreGone();
  }

  private void stop() {
    OwnerTransport transport = server.transport();
    server.close();
    server = null;
    if (transport != null) {
      assertThat(transport.levels().values()).as("%s", transport.levels()).containsOnly(0L);
    }
  }

  private void start() {
    server = newServer();
    Waiting.until(server::isUp);
  }

  private NodeServer newServer() {
    LocalPaths paths = new LocalPaths(conf);
    return NodeServer.start(
        new NodeSite(conf, 13_562, () -> paths, Optional.of(recovery)),
        MapReduceSettings.ofNodeManager(conf));
  }

  private void start(Job... jobs) {
    start();
    Arrays.stream(jobs).forEach(server::add);
    Waiting.until(() -> server.transport().tenants() == jobs.length);
  }

  private SoftReader reader(Job job) throws Exception {
    return reader(job.credential());
  }

  private SoftReader reader(JobCredential credential) throws Exception {
    SoftReader reader = new SoftReader(soft, port, credential);
    readers.add(reader);
    return reader;
  }

  private Counters counters() {
    return server.transport().counters();
  }

  private static List<BlockKey> piecesOf(TaskAttemptID attempt, int reduce, int bytes) {
    List<BlockKey> keys = new ArrayList<>();
    for (int piece = 0; piece * MapOutputKeys.PIECE_BYTES < Math.max(1, bytes); piece++) {
      keys.add(MapOutputKeys.pieceKeyOf(attempt, reduce, piece));
    }
    return keys;
  }

  @Test
  void reducersReadSegmentsOfEverySizeAndBothLengths() throws Exception {
    int[] sizes = {0, 6, 100, 513, 5000, 70_000, 900_000};
    byte[][] segments = files.write(JOB, 0, sizes);
    start(JOB);
    SoftReader reader = reader(JOB);
    TaskAttemptID attempt = MapOutputFiles.attempt(JOB, 0);

    for (int reduce = 0; reduce < sizes.length; reduce++) {
      Fetched length = reader.fetch(MapOutputKeys.lengthKeyOf(attempt, reduce));
      assertThat(length.read(0).attribute()).isEqualTo(sizes[reduce]);
      List<BlockKey> pieces = piecesOf(attempt, reduce, sizes[reduce]);
      Fetched fetched = reader.fetch(pieces);
      for (int piece = 0; piece < pieces.size(); piece++) {
        int from = piece * MapOutputKeys.PIECE_BYTES;
        int to = Math.min(sizes[reduce], from + MapOutputKeys.PIECE_BYTES);
        assertThat(fetched.read(piece).bytes())
            .isEqualTo(Arrays.copyOfRange(segments[reduce], from, to));
        assertThat(fetched.read(piece).attribute())
            .isEqualTo(sizes[reduce] * MapOutputFiles.RAW_FACTOR);
      }
    }
    assertThat(counters().value(Counter.OWNER_BLOCKS_WINDOW)).isPositive();
    assertThat(counters().value(Counter.OWNER_BLOCKS_INLINE)).isPositive();
  }

  @Test
  void whoDoesNotKnowTheSecretIsTurnedAwayBeforeAnythingIsSaid() throws Exception {
    files.write(JOB, 0, 100, 70_000);
    start(JOB);
    JobCredential wrong = JobCredential.of(JOB.id(), new byte[] {1});
    JobCredential unknown = OTHER.credential();
    JobCredential mixed = new JobCredential(JOB.credential().id(), unknown.secret());

    for (JobCredential stranger : List.of(wrong, unknown, mixed)) {
      Fetched fetched = reader(stranger).fetch(MapOutputFiles.key(JOB, 0, 1));
      assertThat(fetched.reason(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    }

    assertThat(counters().value(Counter.CONNECTIONS_REFUSED)).isEqualTo(3);
    assertThat(counters().value(Counter.CONNECTIONS_OPENED)).isZero();
    assertThat(counters().value(Counter.REGISTRATIONS)).isZero();
    assertThat(server.transport().levels().get("registered-bytes.windows")).isZero();
  }

  @Test
  void aReducerCannotNameAnotherJobsOutput() throws Exception {
    files.write(JOB, 0, 100, 70_000);
    start(JOB, OTHER);
    reader(JOB).fetch(MapOutputFiles.key(JOB, 0, 1)).read(0);

    Fetched fetched =
        reader(OTHER).fetch(MapOutputFiles.key(JOB, 0, 0), MapOutputFiles.key(JOB, 0, 1));

    assertThat(fetched.reason(0)).isEqualTo(FallbackReason.UNKNOWN_BLOCK);
    assertThat(fetched.reason(1)).isEqualTo(FallbackReason.UNKNOWN_BLOCK);
  }

  @Test
  void keysThatNoReducerSendsAndReducesThatAreNotThereFallBack() throws Exception {
    byte[][] segments = files.write(JOB, 0, 100, 7000);
    start(JOB);

    Fetched fetched =
        reader(JOB)
            .fetch(
                new BlockKey(0, 0, 0, 2),
                new BlockKey(0, Long.MAX_VALUE, 0, 1),
                new BlockKey(5, 0, 0, 1),
                MapOutputFiles.key(JOB, 0, 2),
                MapOutputFiles.key(JOB, 0, Integer.MAX_VALUE - 1),
                MapOutputFiles.key(JOB, 1, 0),
                MapOutputFiles.key(JOB, 0, 1));

    for (int i = 0; i < 6; i++) {
      assertThat(fetched.reason(i)).isEqualTo(FallbackReason.UNKNOWN_BLOCK);
    }
    assertThat(fetched.read(6).bytes()).isEqualTo(segments[1]);
  }

  @Test
  void aBrokenMapOutputCostsOnlyItself() throws Exception {
    byte[][] segments = files.write(JOB, 0, 100, 7000);
    for (int map = 1; map <= 4; map++) {
      files.write(JOB, map, 100, 7000);
    }
    Files.delete(files.data(JOB, 1));
    Files.delete(files.index(JOB, 2));
    byte[] index = Files.readAllBytes(files.index(JOB, 3));
    index[30] ^= 1;
    Files.write(files.index(JOB, 3), index);
    start(JOB);
    SoftReader reader = reader(JOB);
    reader.fetch(MapOutputKeys.lengthKeyOf(MapOutputFiles.attempt(JOB, 4), 1)).read(0);
    try (FileChannel data = FileChannel.open(files.data(JOB, 4), StandardOpenOption.WRITE)) {
      data.truncate(7000); // after its index was read
    }

    List<BlockKey> keys = new ArrayList<>();
    for (int map = 0; map <= 4; map++) {
      keys.add(MapOutputFiles.key(JOB, map, 1));
    }
    Fetched fetched = reader.fetch(keys);

    assertThat(fetched.read(0).bytes()).isEqualTo(segments[1]);
    for (int map = 1; map <= 3; map++) {
      assertThat(fetched.reason(map)).isEqualTo(FallbackReason.UNKNOWN_BLOCK);
    }
    assertThat(fetched.reason(4)).isEqualTo(FallbackReason.FILE_CHANGED);
  }

  @Test
  void aFileThatBecameALinkIsNotServed() throws Exception {
    files.write(JOB, 0, 100, 7000);
    files.write(OTHER, 0, 100, 7000);
    start(JOB);
    SoftReader reader = reader(JOB);
    reader.fetch(MapOutputKeys.lengthKeyOf(MapOutputFiles.attempt(JOB, 0), 1)).read(0);

    Files.delete(files.data(JOB, 0));
    Files.createSymbolicLink(files.data(JOB, 0), files.data(OTHER, 0));

    assertThat(reader.fetch(MapOutputFiles.key(JOB, 0, 1)).reason(0))
        .isEqualTo(FallbackReason.FILE_CHANGED);
  }

  @Test
  void thousandsOfTinySegmentsTravelInTheAnswers() throws Exception {
    List<BlockKey> keys = new ArrayList<>();
    List<byte[]> expected = new ArrayList<>();
    for (int map = 0; map < 2000; map++) {
      byte[][] segments = files.write(JOB, map, 6, 6 + map % 90);
      keys.add(MapOutputFiles.key(JOB, map, 1));
      expected.add(segments[1]);
    }
    start(JOB);

    Fetched fetched = reader(JOB).fetch(keys);

    int inline = 0;
    for (int map = 0; map < keys.size(); map++) {
      assertThat(fetched.read(map).bytes()).isEqualTo(expected.get(map));
      inline += fetched.read(map).source() == Source.INLINE ? 1 : 0;
    }
    assertThat(inline).as("the others had no room in their answer").isGreaterThan(500);
    assertThat(counters().value(Counter.REGISTRATIONS)).isZero();
  }

  @Test
  void segmentsBeyondTwoGigabytesAreReadToTheirEnd() throws Exception {
    long bytes = 5L << 30;
    files.writeSparse(JOB, 0, bytes);
    start(JOB);
    TaskAttemptID attempt = MapOutputFiles.attempt(JOB, 0);
    int lastPiece = (int) ((bytes - 5) / MapOutputKeys.PIECE_BYTES);

    Fetched fetched =
        reader(JOB)
            .fetch(
                MapOutputKeys.lengthKeyOf(attempt, 0),
                MapOutputKeys.pieceKeyOf(attempt, 0, lastPiece),
                MapOutputKeys.pieceKeyOf(attempt, 0, lastPiece + 1),
                MapOutputKeys.pieceKeyOf(attempt, 1, 0));

    assertThat(fetched.read(0).attribute()).isEqualTo(bytes - 4);
    assertThat(fetched.read(1).bytes()).hasSize(MapOutputKeys.PIECE_BYTES - 4).containsOnly(0);
    assertThat(fetched.read(1).attribute()).isEqualTo(bytes);
    assertThat(fetched.reason(2)).isEqualTo(FallbackReason.UNKNOWN_BLOCK);
    assertThat(fetched.read(3).bytes()).containsExactly(1, 2, 3, 4);
  }

  /** Four fetchers of a task that may register 8 MiB, each three segments of 3 MB, in turns. */
  @Test
  void aReduceTaskWithASmallPoolReadsEverythingWithinItsOverflowMemory() throws Exception {
    JobConf task = new JobConf(false);
    task.set("mapreduce.shuffle.rdma.memory.registered.max", "8m");
    task.set("mapreduce.shuffle.rdma.pool.size", "8m");
    Map<TaskAttemptID, byte[]> expected = new HashMap<>();
    List<List<TaskAttemptID>> attempts = new ArrayList<>();
    for (int map = 0; map < 12; map++) {
      TaskAttemptID attempt = MapOutputFiles.attempt(JOB, map);
      expected.put(attempt, files.write(JOB, map, 3_000_000)[0]);
      if (map % 3 == 0) {
        attempts.add(new ArrayList<>());
      }
      attempts.get(map / 3).add(attempt);
    }
    start(JOB);
    TransportSettings settings = MapReduceSettings.ofTask(task).transport();
    SoftReader reader = new SoftReader(soft, port, JOB.credential(), settings);
    readers.add(reader);

    List<SegmentBatch> fetchers = reader.batches(task, attempts);
    long mostBytes = 0;
    for (int round = 0; round < 3; round++) {
      List<Segment> open = new ArrayList<>();
      for (SegmentBatch fetcher : fetchers) {
        open.add((Segment) fetcher.next().orElseThrow());
      }
      for (int at = 0; at < 3_000_000; at += 100_000) {
        for (Segment segment : open) {
          assertThat(segment.stream().readNBytes(100_000))
              .isEqualTo(Arrays.copyOfRange(expected.get(segment.attempt()), at, at + 100_000));
        }
        mostBytes = Math.max(mostBytes, reader.level("overflow-bytes"));
      }
    }
    fetchers.forEach(SegmentBatch::close);

    assertThat(mostBytes).isBetween(1L, settings.overflow().leastBytes());
  }

  @Test
  void withoutMemoryForWindowsSegmentsAreCopiedOrLeftToHttp() throws Exception {
    conf.set(NODE + "memory.registered.max", "3m");
    conf.set(NODE + "staging.size", "1m");
    List<BlockKey> keys = new ArrayList<>();
    List<byte[]> expected = new ArrayList<>();
    for (int map = 0; map < 40; map++) {
      keys.add(MapOutputFiles.key(JOB, map, 0));
      expected.add(files.write(JOB, map, 250_000)[0]);
    }
    start(JOB);

    Fetched fetched = reader(JOB).fetch(keys);

    for (int map = 0; map < keys.size(); map++) {
      if (fetched.outcomes().get(map) instanceof SoftReader.Read read) {
        assertThat(read.bytes()).isEqualTo(expected.get(map));
      } else {
        assertThat(fetched.reason(map))
            .isIn(FallbackReason.OWNER_NO_MEMORY, FallbackReason.OVERLOADED);
      }
    }
    assertThat(fetched.fallbacks()).isLessThan(keys.size());
    assertThat(server.transport().levels().get("registered-bytes.windows"))
        .isLessThanOrEqualTo(3L << 20);
  }

  @Test
  void aJobThatEndsUnderItsReadersLeavesNothing() throws Exception {
    byte[][] segments = files.write(JOB, 0, 200_000, 250_000, 3000);
    files.write(OTHER, 0, 200_000);
    start(JOB, OTHER);
    SoftReader reader = reader(JOB);
    reader(OTHER).fetch(MapOutputFiles.key(OTHER, 0, 0)).read(0);
    long others = server.transport().levels().get("registered-bytes.windows");
    BlockKey[] keys = {
      MapOutputFiles.key(JOB, 0, 0), MapOutputFiles.key(JOB, 0, 1), MapOutputFiles.key(JOB, 0, 2)
    };
    reader.fetch(keys).read(1);
    CompletableFuture<Integer> reading =
        CompletableFuture.supplyAsync(() -> readUntilRefused(reader, keys, segments));

    long before = counters().value(Counter.OWNER_BLOCKS_WINDOW);
    Waiting.until(() -> counters().value(Counter.OWNER_BLOCKS_WINDOW) > before + 20);
    server.remove(JOB.application());

    assertThat(reading.get(30, TimeUnit.SECONDS)).isPositive();
    Waiting.until(() -> server.transport().levels().get("registered-bytes.windows") <= others);
    assertThat(server.transport().tenants()).isEqualTo(1);
    assertThat(server.jobs()).isEqualTo(1);
    assertThat(counters().value(Counter.LEASES_LIVE)).isZero();
    assertThat(reader.fetch(keys).fallbacks()).isEqualTo(3);
  }

  /** Every block that comes must be right; returns how often all came. */
  private static int readUntilRefused(SoftReader reader, BlockKey[] keys, byte[][] segments) {
    try {
      for (int rounds = 0; ; rounds++) {
        Fetched fetched = reader.fetch(keys);
        for (int i = 0; i < keys.length; i++) {
          if (fetched.outcomes().get(i) instanceof SoftReader.Read read) {
            assertThat(read.bytes()).isEqualTo(segments[i]);
          }
        }
        if (fetched.fallbacks() > 0) {
          return rounds;
        }
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void jobsAreKnownAfterARestartUntilTheyEnd() throws Exception {
    byte[][] segments = files.write(JOB, 0, 7000);
    start(JOB);
    Waiting.until(() -> recovery.resolve("mapreduce_rdma_shuffle").toFile().list().length == 1);
    stop();

    start();
    Waiting.until(() -> server.transport().tenants() == 1);
    Fetched fetched = reader(JOB).fetch(MapOutputFiles.key(JOB, 0, 0));
    assertThat(fetched.read(0).bytes()).isEqualTo(segments[0]);

    server.remove(JOB.application());
    Waiting.until(() -> recovery.resolve("mapreduce_rdma_shuffle").toFile().list().length == 0);
    stop();
    start();
    assertThat(server.jobs()).isZero();
  }

  @Test
  void aPortInUseLeavesHttpAndSaysWhy() throws Exception {
    start();
    try (NodeServer late = newServer()) {
      late.add(JOB);
      Waiting.until(() -> late.problem().contains(String.valueOf(port)));

      assertThat(late.isUp()).isFalse();
      assertThat(late.problem()).contains(String.valueOf(port));
      late.remove(JOB.application());
    }
  }

  @Test
  void anAdapterThatIsNotThereLeavesHttpAndSaysWhy() throws Exception {
    conf.set(NODE + "device", "mlx5_77");
    server = newServer();
    Waiting.until(() -> !server.problem().contains("being opened"));

    assertThat(server.isUp()).isFalse();
    assertThat(server.problem()).isNotBlank();
  }
}
