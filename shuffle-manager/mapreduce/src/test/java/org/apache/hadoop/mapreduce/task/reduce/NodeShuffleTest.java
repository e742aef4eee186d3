package org.apache.hadoop.mapreduce.task.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.mapreduce.nm.NodeProcess;
import io.rdmashuffle.mapreduce.nm.ShuffleNode;
import io.rdmashuffle.mapreduce.nm.Waiting;
import io.rdmashuffle.mapreduce.reduce.TestSegment;
import io.rdmashuffle.transport.testing.SoftAdapter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapreduce.MRJobConfig;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/**
 * Whole reduce tasks against the shuffle services of NodeManagers, as both run in a cluster: HTTP
 * is Hadoop's, RDMA goes over the software adapter.
 */
final class NodeShuffleTest {
  private static final int MAPS = 12;
  private static final int WORDS = 2000; // per map
  private static final String TASK = "mapreduce.shuffle.rdma.";

  @TempDir private Path folder;
  private ShuffleRig rig;
  private final List<ShuffleNode> nodes = new ArrayList<>();

  @BeforeAll
  static void requireAdapter() {
    SoftAdapter.require();
  }

  @BeforeEach
  void open() {
    rig = new ShuffleRig(folder.resolve("reduce"));
    rig.conf.set(TASK + "device", "soft");
    rig.conf.set(TASK + "bind.address", "127.0.0.0/8");
  }

  @AfterEach
  void nothingIsLeft() {
    try (ShuffleRig closing = rig) {
      assertThat(closing.errors).isEmpty();
      nodes.forEach(ShuffleNode::awaitNoReaders);
    } finally {
      nodes.forEach(ShuffleNode::stop);
    }
    ShuffleNode.awaitNothingRuns();
  }

  @Test
  void everySegmentOfBothNodesComesByRdma() throws Exception {
    rig.writeMaps(MAPS, WORDS);
    start(node("one"), 0, MAPS / 2);
    start(node("two"), MAPS / 2, MAPS);

    assertThat(rig.runPlugin()).isEqualTo(rig.outputs().sums());

    assertThat(byRdma()).isEqualTo(MAPS);
    assertThat(byHttp()).isZero();
    assertThat(rig.reported("HOSTS_FALLEN_BACK")).isZero();
  }

  @Test
  void aNodeWithHadoopsOwnServiceServesByHttpAndTheOtherByRdma() throws Exception {
    rig.writeMaps(MAPS, WORDS);
    start(node("one"), 0, MAPS / 2);
    ShuffleNode hadoops =
        ShuffleNode.withoutRdma(folder.resolve("hadoops"), MapOutputs.JOB, rig.secret);
    nodes.add(hadoops);
    start(hadoops, MAPS / 2, MAPS);

    assertThat(rig.runPlugin()).isEqualTo(rig.outputs().sums());

    assertThat(byRdma()).isEqualTo(MAPS / 2);
    assertThat(byHttp()).isEqualTo(MAPS / 2);
    assertThat(rig.reported("HOSTS_FALLEN_BACK")).isEqualTo(1);
    assertThat(rig.reported("HOSTS_FALLEN_BACK.connect-failed")).isEqualTo(1);
    assertThatNoMapWasBlamed();
  }

  @ParameterizedTest
  @EnumSource(BlackHole.Kind.class)
  void aPortThatSwallowsEverythingIsWaitedForOnce(BlackHole.Kind kind) throws Exception {
    rig.writeMaps(3 * MAPS, WORDS); // more than a turn takes
    start(node("one"), 0, 3 * MAPS);
    Duration connecting = Duration.ofSeconds(1);
    rig.conf.set(TASK + "connect.timeout", connecting.toMillis() + "ms");
    long took;
    LogCapturer ours = LogCapturer.captureLogs(LoggerFactory.getLogger("io.rdmashuffle"));
    LogCapturer shuffle = LogCapturer.captureLogs(LoggerFactory.getLogger(RdmaShuffle.class));
    try (BlackHole hole = BlackHole.open(kind)) {
      rig.conf.setInt(TASK + "port", hole.port());
      long begin = System.nanoTime();
      assertThat(rig.runPlugin()).isEqualTo(rig.outputs().sums());
      took = System.nanoTime() - begin;
      assertThat(hole.connected()).as("connections").isLessThanOrEqualTo(1);
    } finally {
      ours.stopCapturing();
      shuffle.stopCapturing();
    }
    assertThat((ours.getOutput() + shuffle.getOutput()).lines())
        .as("one line for one decision")
        .filteredOn(line -> line.matches(".* for [0-9]+ ms: .*"))
        .hasSize(1);
    assertThat(Duration.ofNanos(took)).isBetween(connecting, connecting.plusSeconds(8));
    assertThat(byHttp()).isEqualTo(3 * MAPS);
    assertThat(rig.reported("HOSTS_FALLEN_BACK")).isEqualTo(1);
    assertThatNoMapWasBlamed();
  }

  @Test
  void aNodeManagerThatIsRestartedUnderAReducerServesItByRdmaAgain() throws Exception {
    rig.writeMaps(MAPS, WORDS);
    ShuffleNode node = node("one");
    start(node, 0, MAPS / 2);
    rig.conf.set(TASK + "breaker.min", "100ms");

    CompletableFuture<Map<String, Integer>> reducer = startReducer();
    Waiting.until(() -> rig.shuffledMaps() == MAPS / 2);
    node.stop();
    node.restart();
    write(node, MAPS / 2, MAPS, 0);

    assertThat(reducer.get(40, TimeUnit.SECONDS)).isEqualTo(rig.outputs().sums());
    assertThat(byRdma()).isEqualTo(MAPS);
    assertThatNoMapWasBlamed();
  }

  @Test
  void aNodeManagerThatIsRestartedDuringACopyCostsNoMap() throws Exception {
    int maps = 60;
    rig.writeMaps(maps, WORDS);
    rig.conf.setBoolean(MRJobConfig.SHUFFLE_FETCH_RETRY_ENABLED, true); // as where nodes recover
    rig.conf.setLong(MRJobConfig.SHUFFLE_FETCH_RETRY_INTERVAL_MS, 50);
    rig.conf.setInt(MRJobConfig.SHUFFLE_CONNECT_TIMEOUT, 3000);
    ShuffleNode node = node("one");
    start(node, 0, maps);

    CompletableFuture<Map<String, Integer>> reducer = startReducer();
    Waiting.until(() -> rig.shuffledMaps() > 0);
    node.stop();
    node.restart();

    assertThat(reducer.get(40, TimeUnit.SECONDS)).isEqualTo(rig.outputs().sums());
    assertThat(byRdma() + byHttp()).isEqualTo(maps);
    assertThat(byRdma()).as("before the restart, at least").isPositive();
    assertThatNoMapWasBlamed();
  }

  @Test
  void mapsOfANodeThatDiedAreReportedAndTakenFromWhereTheyRanAgain() throws Exception {
    int lost = 4;
    rig.conf.setLong(MRJobConfig.MAX_SHUFFLE_FETCH_RETRY_DELAY, 20_000); // tried once
    rig.writeMaps(MAPS, WORDS);
    ShuffleNode dying = node("dying");
    ShuffleNode other = node("other");
    start(other, lost, MAPS);
    CompletableFuture<Map<String, Integer>> reducer = startReducer();
    Waiting.until(() -> rig.shuffledMaps() == MAPS - lost);
    start(dying, 0, 0);
    dying.stop();
    write(dying, 0, lost, 0);
    Waiting.until(() -> !rig.blamedMaps().isEmpty());
    for (int map = 0; map < lost; map++) {
      rig.obsolete(MapOutputs.attempt(map), dying.url());
    }
    write(other, 0, lost, 1);

    assertThat(reducer.get(40, TimeUnit.SECONDS)).isEqualTo(rig.outputs().sums());
    assertThat(rig.blamedMaps())
        .allSatisfy(m -> assertThat(m.getTaskID().getId()).isLessThan(lost));
    assertThat(byRdma()).isEqualTo(MAPS);
    assertThat(rig.reported("HOSTS_FALLEN_BACK.connect-failed")).isEqualTo(1);
  }

  @Test
  void aNodeManagerKilledDuringACopyCostsNoReducer() throws Exception {
    int maps = 150; // most of them elsewhere, or Hadoop takes the reducer for the sick one
    int lost = 40;
    rig.conf.setLong(MRJobConfig.MAX_SHUFFLE_FETCH_RETRY_DELAY, 20_000); // tried once
    rig.writeMaps(maps, WORDS);
    ShuffleNode other = node("other");
    start(other, lost, maps);
    CompletableFuture<Map<String, Integer>> reducer = startReducer();
    Waiting.until(() -> rig.shuffledMaps() == maps - lost);
    String url;
    try (NodeProcess dying =
        NodeProcess.start(folder.resolve("dying"), MapOutputs.JOB, rig.secret)) {
      url = dying.url();
      for (int map = 0; map < lost; map++) {
        if (map == lost / 2) { // the reducer is at it, and more is to come
          Waiting.until(() -> rig.shuffledMaps() > maps - lost);
          dying.kill();
        }
        TestSegment segment = rig.outputs().segment(MapOutputs.attempt(map));
        dying.write(MapOutputs.attempt(map), segment.content().apply(0), segment.rawBytes());
        rig.succeeded(MapOutputs.attempt(map), url);
      }
    }
    Waiting.until(() -> !rig.blamedMaps().isEmpty());
    for (int map = 0; map < lost; map++) {
      rig.obsolete(MapOutputs.attempt(map), url);
    }
    write(other, 0, lost, 1);

    assertThat(reducer.get(40, TimeUnit.SECONDS)).isEqualTo(rig.outputs().sums());
    assertThat(rig.blamedMaps())
        .allSatisfy(m -> assertThat(m.getTaskID().getId()).isLessThan(lost));
    assertThat(rig.reported("HOSTS_FALLEN_BACK")).isPositive();
  }

  /** Under ar-EG Hadoop prints ids with Arabic digits. */
  @Test
  void aNodeManagerWithOtherDigitsServesByRdma() throws Exception {
    rig.writeMaps(2, WORDS);
    try (NodeProcess node =
        NodeProcess.start(
            folder.resolve("arabic"),
            MapOutputs.JOB,
            rig.secret,
            "-Duser.language=ar",
            "-Duser.country=EG")) {
      for (int map = 0; map < 2; map++) {
        TestSegment segment = rig.outputs().segment(MapOutputs.attempt(map));
        node.write(MapOutputs.attempt(map), segment.content().apply(0), segment.rawBytes());
        rig.succeeded(MapOutputs.attempt(map), node.url());
      }

      assertThat(rig.runPlugin()).isEqualTo(rig.outputs().sums());
    }
    assertThat(byRdma()).isEqualTo(2);
  }

  @Test
  void aNodeManagerWithoutMemoryToPinCostsNoMap() throws Exception {
    int maps = 20;
    rig.writeMaps(maps, 10 * WORDS); // together twice of what may be pinned
    ShuffleNode node = node("one");
    node.set("memory.registered.max", "2m");
    node.set("staging.size", "1m");
    start(node, 0, maps);

    assertThat(rig.runPlugin()).isEqualTo(rig.outputs().sums());

    assertThat(rig.outputs().partBytes()).isGreaterThan(4 << 20);
    assertThat(byRdma() + byHttp()).isEqualTo(maps);
    assertThat(byRdma()).isPositive();
    assertThatNoMapWasBlamed();
  }

  private ShuffleNode node(String name) throws IOException {
    ShuffleNode node = ShuffleNode.withRdma(folder.resolve(name), MapOutputs.JOB, rig.secret);
    nodes.add(node);
    return node;
  }

  /** Starts a node with the first attempts of some maps. */
  private void start(ShuffleNode node, int from, int to) throws IOException {
    node.start();
    write(node, from, to, 0);
  }

  /** The outputs of some maps come to lie at a node, and the reducer hears of it. */
  private void write(ShuffleNode node, int from, int to, int number) throws IOException {
    for (int map = from; map < to; map++) {
      TaskAttemptID attempt = MapOutputs.attempt(map, number);
      TestSegment segment = rig.outputs().segment(MapOutputs.attempt(map));
      node.write(attempt, segment.content().apply(0), segment.rawBytes());
      rig.succeeded(attempt, node.url());
    }
  }

  private CompletableFuture<Map<String, Integer>> startReducer() {
    CompletableFuture<Map<String, Integer>> result = new CompletableFuture<>();
    Thread reducer =
        new Thread(
            () -> {
              try {
                result.complete(rig.runPlugin());
              } catch (Exception | LinkageError e) {
                result.completeExceptionally(e);
              }
            },
            "test-reducer");
    reducer.start();
    return result;
  }

  private long byRdma() {
    return rig.reported("SEGMENTS_READ")
        + rig.reported("SEGMENTS_INLINE")
        + rig.reported("SEGMENTS_STAGED");
  }

  private long byHttp() {
    return rig.reported("SEGMENTS_HTTP");
  }

  private void assertThatNoMapWasBlamed() {
    assertThat(rig.failedShuffles()).isZero();
    assertThat(rig.blamedMaps()).isEmpty();
  }
}
