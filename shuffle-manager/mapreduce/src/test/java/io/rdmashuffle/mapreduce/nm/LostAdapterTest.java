package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterRules;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.testing.FailingGate;
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

/**
 * A NodeManager whose adapter goes away under it, or that gets no thread, over the in-memory fake.
 */
final class LostAdapterTest {
  private static final Job JOB = MapOutputFiles.job(7);

  @TempDir Path directory;
  @TempDir Path recovery;
  private final FakeFabric fabric = FakeFabric.immediate();
  private final VerbsProvider process = fabric.newProcess(Long.MAX_VALUE, 4096);
  private final InetAddress adapter = fabric.addAdapter();
  private final FailingGate failing = new FailingGate();
  private NodeServer server;

  private void start(Function<NodeSite, AdapterRules> rules) {
    begin(rules);
    server.add(JOB);
    Waiting.until(() -> server.isUp() && server.transport().tenants() == 1);
  }

  private void begin(Function<NodeSite, AdapterRules> rules) {
    begin(rules, failing);
  }

  private void begin(Function<NodeSite, AdapterRules> rules, Gate gate) {
    Configuration conf = new MapOutputFiles(directory).conf();
    conf.setInt("mapreduce.shuffle.rdma.port", 13_563);
    LocalPaths paths = new LocalPaths(conf);
    NodeSite site = new NodeSite(conf, 13_562, () -> paths, Optional.of(recovery));
    server =
        NodeServer.start(
            site,
            MapReduceSettings.ofNodeManager(conf),
            new NodeServer.Adapters(
                engineAddress -> new AdapterFinder.Found(process.lent(), adapter),
                rules.apply(site),
                gate));
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
  void whicheverThreadOrHandOverFailsJobsAreServedUntilTheyEnd() {
    int runs = 0;
    while (failsOnceAt(++runs)) {
      server.close();
      fabric.assertNothingOpen();
    }
    assertThat(runs).as("threads and hand-overs of a NodeManager").isGreaterThan(15);
  }

  /** Returns false if there are not so many. */
  private boolean failsOnceAt(int nth) {
    Job ends = MapOutputFiles.job(8);
    failing.failAt(nth);
    begin(LostAdapterTest::impatient);
    server.add(JOB);
    server.add(ends);
    untilServed(2);
    server.remove(ends.application());
    untilServed(1);
    OwnerTransport first = server.transport();
    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, 11));
    Waiting.until(() -> server.isUp() && server.transport() != first);
    untilServed(1);
    assertThat(server.jobs()).isEqualTo(1);
    server.remove(JOB.application());
    return failing.end();
  }

  @Test
  void jobsForWhichThereNeverWasAThreadAreKnownAfterARestart() throws Exception {
    begin(
        NodeServer::rules,
        new Gate() {
          @Override
          public Thread newThread(Runnable body, String name) {
            throw new OutOfMemoryError("unable to create native thread");
          }
        });
    server.add(JOB);
    assertThat(server.problem()).contains("thread");
    server.close();

    begin(NodeServer::rules);
    Waiting.until(() -> server.isUp() && server.transport().tenants() == 1);
  }

  /** While containers of the job come. */
  private void untilServed(int jobs) {
    Waiting.until(
        () -> {
          server.add(JOB);
          OwnerTransport transport = server.transport();
          return transport != null && transport.tenants() == jobs;
        });
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
