package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterRules;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
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

  private void start(Function<NodeSite, AdapterRules> rules) {
    Configuration conf = new MapOutputFiles(directory).conf();
    conf.setInt("mapreduce.shuffle.rdma.port", 13_563);
    LocalPaths paths = new LocalPaths(conf);
    NodeSite site = new NodeSite(conf, 13_562, () -> paths, Optional.empty());
    server =
        NodeServer.start(
            site,
            MapReduceSettings.ofNodeManager(conf),
            new NodeServer.Adapters(
                engineAddress -> new AdapterFinder.Found(process, adapter), rules.apply(site)));
    server.add(JOB);
    Waiting.until(() -> server.isUp() && server.transport().tenants() == 1);
  }

  /** The same, but it does not take minutes. */
  private static AdapterRules impatient(NodeSite site) {
    AdapterRules usual = NodeServer.rules(site);
    AdapterRules.Pauses pauses =
        new AdapterRules.Pauses(Duration.ofMillis(100), Duration.ofMillis(100));
    return new AdapterRules(
        usual.process(),
        usual.otherwise(),
        usual.openTimeout(),
        usual.closeTimeout(),
        pauses,
        pauses);
  }

  @AfterEach
  void stop() {
    server.close();
    fabric.assertNothingOpen();
    Waiting.untilThreadsAreGone();
  }

  @Test
  void everythingOfAnAdapterThatIsRemovedIsClosedAndHttpServesAlone() {
    start(NodeServer::rules);
    OwnerTransport transport = server.transport();

    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.DEVICE_REMOVED, 11));

    Waiting.until(() -> !server.isUp() && transport.tenants() == 0);
    assertThat(server.problem()).contains("DEVICE_REMOVED");
    Waiting.until(() -> transport.levels().values().stream().allMatch(level -> level == 0));
  }

  @Test
  void jobsComeAndGoAfterTheAdapterIsLostAndAreServedByTheNextOne() {
    start(LostAdapterTest::impatient);
    OwnerTransport lost = server.transport();
    Job later = MapOutputFiles.job(8);
    Job last = MapOutputFiles.job(9);

    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, 11));
    Waiting.until(() -> server.transport() != lost);
    server.add(later);
    server.remove(JOB.application());
    server.add(last);

    Waiting.until(() -> server.isUp() && server.transport().tenants() == 2);
    assertThat(server.jobs()).isEqualTo(2);
    assertThat(server.problem()).isEmpty();
    assertThat(lost.tenants()).isZero();
  }

  @Test
  void aPortThatIsDownIsNotLost() {
    start(LostAdapterTest::impatient);
    OwnerTransport transport = server.transport();

    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.PORT_DOWN, 10));
    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, 9));
    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.QP_ERROR, 1));
    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.DEVICE_REMOVED, 11));

    Waiting.until(() -> server.transport() != transport); // all the others came before
    assertThat(transport.lost().toCompletableFuture().join()).contains("DEVICE_REMOVED");
  }
}
