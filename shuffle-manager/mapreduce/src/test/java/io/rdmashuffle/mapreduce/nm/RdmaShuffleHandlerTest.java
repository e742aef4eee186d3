package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.SoftAdapter;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapred.ShuffleHandler;
import org.apache.hadoop.metrics2.MetricsRecordBuilder;
import org.apache.hadoop.test.GenericTestUtils.LogCapturer;
import org.apache.hadoop.test.MetricsAsserts;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.server.api.ApplicationInitializationContext;
import org.apache.hadoop.yarn.server.api.ApplicationTerminationContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The handler as a NodeManager drives it, with real HTTP and, where it is there, soft RDMA. */
final class RdmaShuffleHandlerTest {
  private static final Job JOB = MapOutputFiles.job(7);
  private static final String NODE = "mapreduce.shuffle.rdma.nodemanager.";

  @TempDir Path directory;
  private MapOutputFiles files;
  private Configuration conf;
  private RdmaShuffleHandler handler;
  private int rdmaPort;

  @BeforeEach
  void prepare() throws IOException {
    files = new MapOutputFiles(Files.createDirectory(directory.resolve("local")));
    rdmaPort = FreePort.find();
    conf = new Configuration();
    files.conf().forEach(entry -> conf.set(entry.getKey(), entry.getValue()));
    conf.setInt("mapreduce.shuffle.port", 0);
    conf.setInt("mapreduce.shuffle.rdma.port", rdmaPort);
    conf.set(NODE + "device", "soft");
    conf.set(NODE + "bind.address", "127.0.0.0/8");
  }

  @AfterEach
  void stop() {
    if (handler != null) {
      handler.stop();
      assertThat(handler.transport()).isNull();
    }
    Waiting.untilThreadsAreGone();
  }

  private void start() {
    handler = new RdmaShuffleHandler();
    handler.init(conf);
    handler.start();
  }

  private static ByteBuffer serviceData(byte[] secret) throws IOException {
    return Announcement.serviceData(JOB, secret);
  }

  private void initialize(ByteBuffer serviceData) {
    handler.initializeApplication(
        new ApplicationInitializationContext(JOB.user(), JOB.application(), serviceData));
  }

  private void end(ApplicationId application) {
    handler.stopApplication(new ApplicationTerminationContext(application));
  }

  private byte[] byHttp(int map, int reduce) throws Exception {
    int port = ShuffleHandler.deserializeMetaData(handler.getMetaData());
    try (DataInputStream answer = HttpSegments.open(port, JOB, List.of(map), reduce)) {
      return HttpSegments.next(answer);
    }
  }

  @Test
  void segmentsComeByHttpAndByRdma() throws Exception {
    try (DisniProvider soft = SoftAdapter.load()) {
      byte[][] segments = files.write(JOB, 0, 100, 7000);
      start();
      Waiting.until(() -> handler.transport() != null);
      for (int container = 0; container < 3; container++) {
        initialize(serviceData(JOB.shuffleSecret()));
      }
      Waiting.until(() -> handler.transport().tenants() == 1);
      assertThat(handler.problem()).isEmpty();
      assertThat(handler.jobs()).isEqualTo(1);

      assertThat(byHttp(0, 1)).isEqualTo(segments[1]);
      try (SoftReader reader = new SoftReader(soft, rdmaPort, JOB.credential())) {
        assertThat(reader.fetch(MapOutputFiles.key(JOB, 0, 1)).read(0).bytes())
            .isEqualTo(segments[1]);

        MetricsRecordBuilder record = MetricsAsserts.getMetrics("RdmaShuffleMetrics");
        MetricsAsserts.assertGauge("RdmaUp", 1, record);
        MetricsAsserts.assertGauge("RdmaJobs", 1, record);
        MetricsAsserts.assertCounter("ConnectionsOpened", 1L, record);
        MetricsAsserts.assertCounter("OwnerBlocksStaged", 1L, record);
        assertThat(MetricsAsserts.getLongGauge("RegisteredBytesStaging", record)).isPositive();

        end(JOB.application());
        Waiting.until(() -> handler.transport().tenants() == 0);
        assertThat(reader.fetch(MapOutputFiles.key(JOB, 0, 1)).fallbacks()).isEqualTo(1);
      }
      assertThat(handler.jobs()).isZero();
    }
  }

  private void assertHttpAlone(String why) throws Exception {
    byte[][] segments = files.write(JOB, 0, 100, 7000);
    start();
    Waiting.until(() -> handler.problem().contains(why));
    initialize(serviceData(JOB.shuffleSecret()));

    assertThat(byHttp(0, 1)).isEqualTo(segments[1]);
    assertThat(handler.transport()).isNull();
    assertThat(handler.problem()).contains(why);
    end(JOB.application());
  }

  @Test
  void switchedOffItIsHadoopsOwn() throws Exception {
    conf.set(NODE + "mode", "off");
    assertHttpAlone("RDMA is switched off");
  }

  @Test
  void aBadValueLeavesHttpAndIsNamedInOneLine() throws Exception {
    conf.set(NODE + "staging.size", "7");
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger("io.rdmashuffle"));
    try {
      assertHttpAlone(NODE + "staging.size=7, read as 7 B, is outside 1 MiB to 16 GiB");
    } finally {
      log.stopCapturing();
    }
    assertThat(log.getOutput().lines().filter(line -> !line.contains(" DEBUG ")))
        .singleElement()
        .asString()
        .contains("Map outputs are served by HTTP only: " + NODE + "staging.size=7");
  }

  @Test
  void memoryThatHoldsNoConnectionLeavesHttpAndIsNamedInOneLine() throws Exception {
    conf.set(NODE + "memory.registered.max", "64k");
    LogCapturer log = LogCapturer.captureLogs(LoggerFactory.getLogger("io.rdmashuffle"));
    try {
      assertHttpAlone("(" + NODE + "memory.registered.max)");
    } finally {
      log.stopCapturing();
    }
    assertThat(log.getOutput().lines().filter(line -> line.contains(" WARN ")))
        .singleElement()
        .asString()
        .contains("map outputs are served by HTTP only", "no connection has room", "; raise it");
  }

  @Test
  void anUnknownKeyLeavesHttpAndIsNamed() throws Exception {
    conf.set(NODE + "stagingsize", "32m");
    assertHttpAlone("did you mean " + NODE + "staging.size?");
  }

  @Test
  void anAdapterThatCannotBeUsedLeavesHttp() throws Exception {
    conf.set(NODE + "bind.address", "203.0.113.0/24"); // of no host
    assertHttpAlone("holds none of this host's addresses");
  }

  @Test
  void encryptionKeepsRdmaOff() throws Exception {
    conf.setBoolean("mapreduce.shuffle.ssl.enabled", true);
    handler = new RdmaShuffleHandler();
    handler.init(conf);
    try {
      handler.start();
    } catch (RuntimeException noKeyStore) { // Hadoop's own: there is no certificate in this test
      assertThat(noKeyStore).hasStackTraceContaining("SSL");
    }
    assertThat(handler.transport()).isNull();
  }

  @Test
  void serviceDataThatIsNoneHarmsNobody() throws Exception {
    files.write(JOB, 0, 100);
    start();

    initialize(ByteBuffer.wrap(new byte[] {5, 1, 2}));
    initialize(ByteBuffer.allocate(0));
    end(JOB.application());

    assertThat(handler.jobs()).isZero();
  }
}
