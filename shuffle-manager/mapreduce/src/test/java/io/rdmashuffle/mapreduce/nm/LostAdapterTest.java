package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A NodeManager whose adapter goes away under it, over the in-memory fake. */
final class LostAdapterTest {
  private static final Job JOB = MapOutputFiles.job(7);

  @TempDir Path directory;
  private final FakeFabric fabric = FakeFabric.immediate();
  private final VerbsProvider process = fabric.newProcess(Long.MAX_VALUE, 4096);
  private final InetAddress adapter = fabric.addAdapter();
  private NodeServer server;

  @BeforeEach
  void start() {
    Configuration conf = new MapOutputFiles(directory).conf();
    conf.setInt("mapreduce.shuffle.rdma.port", 13_563);
    LocalPaths paths = new LocalPaths(conf);
    server =
        NodeServer.start(
            new NodeSite(conf, 13_562, () -> paths, Optional.empty()),
            MapReduceSettings.ofNodeManager(conf),
            (engineAddress, undo) -> new AdapterFinder.Found(undo.push(process), adapter));
    server.add(JOB);
    Waiting.until(() -> server.isUp() && server.transport().tenants() == 1);
  }

  @AfterEach
  void stop() {
    server.close();
    fabric.assertNothingOpen();
    Waiting.untilThreadsAreGone();
  }

  @Test
  void everythingOfAnAdapterThatIsRemovedIsClosedAndHttpServesAlone() {
    OwnerTransport transport = server.transport();

    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.DEVICE_REMOVED, 11));

    Waiting.until(() -> !server.isUp() && transport.tenants() == 0);
    assertThat(server.problem()).contains("DEVICE_REMOVED");
    Waiting.until(() -> transport.levels().values().stream().allMatch(level -> level == 0));
  }

  @Test
  void jobsComeAndGoAfterTheAdapterIsLost() {
    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, 11));
    Waiting.until(() -> !server.isUp());

    server.add(MapOutputFiles.job(8));
    server.remove(JOB.application());

    assertThat(server.jobs()).isEqualTo(1);
    assertThat(server.problem()).contains("DEVICE_FATAL");
  }
}
