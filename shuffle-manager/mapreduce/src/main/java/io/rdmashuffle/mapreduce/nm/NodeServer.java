package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterHost;
import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.core.adapter.AdapterRules;
import io.rdmashuffle.core.adapter.AdapterSetup;
import io.rdmashuffle.core.adapter.AdapterSource;
import io.rdmashuffle.core.adapter.AdapterState;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA in a NodeManager: serves the map outputs of the jobs it is told of while there is an
 * adapter, which has a life cycle of its own. Neither the NodeManager's start nor its dispatcher
 * waits for it. Without one there is one warning, and HTTP serves alone.
 *
 * <p><b>Threads:</b> any. <b>Ownership:</b> whoever starts it closes it; that waits, with a
 * deadline.
 */
final class NodeServer implements AutoCloseable, Tenants {
  private static final Logger LOG = LoggerFactory.getLogger(NodeServer.class);
  private static final long INDEX_CACHE_BYTES = 10L << 20; // as Hadoop's IndexCache
  private static final String STORE = "mapreduce_rdma_shuffle";
  private static final String HOST_KEY = "yarn.nodemanager.hostname"; // yarn-default.xml
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(30);
  private static final long IDLE_S = 30;

  private final NodeSite site;
  private final JobRegistry registry;
  private final ThreadPoolExecutor worker;
  private final AdapterLifecycle<OwnerTransport> adapter;
  private volatile HostMemory host; // null until there is an adapter

  private NodeServer(
      NodeSite site, MapReduceSettings settings, Adapters adapters, JobRegistry.Store store) {
    this.site = site;
    JobCatalog catalog =
        new JobCatalog(
            new MapOutputLocator(site.directories(), () -> host, FileOwners.demandedHere()),
            new IndexCache(INDEX_CACHE_BYTES));
    adapter =
        new AdapterSetup(adapters.source(), new Host(site), settings.transport())
            .forOwner(
                adapters.rules(), catalog, settings.port().portFor(site.httpPort()), this::onOpen);
    worker =
        new ThreadPoolExecutor(
            1, 1, IDLE_S, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), this::workerThread);
    worker.allowCoreThreadTimeOut(true);
    registry = new JobRegistry(this::work, this, catalog, store);
  }

  private Thread workerThread(Runnable task) {
    Thread thread = new Thread(task, "rdma-shuffle-jobs-" + site.name());
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Where the adapter comes from, and how long to wait for another.
   *
   * @param source finds it
   * @param rules of its life cycle
   */
  record Adapters(AdapterSource source, AdapterRules rules) {}

  /** Begins to open, and takes up the jobs of before a restart. Does not wait for the adapter. */
  static NodeServer start(NodeSite site, MapReduceSettings settings) {
    AdapterSource source = new AdapterFinder(settings.device())::find;
    return start(site, settings, new Adapters(source, rules(site)));
  }

  static AdapterRules rules(NodeSite site) {
    return AdapterRules.forNode(site.name(), "map outputs are served by HTTP only", CLOSE_TIMEOUT);
  }

  /** The same on an adapter from elsewhere. */
  static NodeServer start(NodeSite site, MapReduceSettings settings, Adapters adapters) {
    JobRegistry.Store store = store(site);
    NodeServer server = new NodeServer(site, settings, adapters, store);
    server.registry.recover(load(store));
    server.adapter.begin();
    return server;
  }

  /** Before the first reader may connect: jobs bring their credentials. */
  private void onOpen(OwnerTransport transport) {
    host = transport.hostMemory();
    work(registry::admitAll);
  }

  private static JobRegistry.Store store(NodeSite site) {
    if (site.recovery().isEmpty()) {
      return JobRegistry.Store.NONE;
    }
    Path directory = site.recovery().get().resolve(STORE);
    try {
      return JobStore.open(directory);
    } catch (IOException | RuntimeException e) {
      LOG.warn("[{}] keeps no jobs for a restart, {} is of no use", site.name(), directory, e);
      return JobRegistry.Store.NONE;
    }
  }

  private static List<Job> load(JobRegistry.Store store) {
    try {
      return store.load();
    } catch (IOException | RuntimeException e) {
      LOG.warn("No job of before the restart is known, their reducers take HTTP", e);
      return List.of();
    }
  }

  /** Nothing is begun any more once it closes. */
  private void work(Runnable task) {
    try {
      worker.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("[{}] stops", site.name());
    }
  }

  /** A job runs a container here. */
  void add(Job job) {
    adapter.begin(); // if there was no thread for it
    registry.add(job);
  }

  /** A job is over. */
  void remove(ApplicationId application) {
    registry.remove(application);
  }

  /** Whether readers can connect. */
  boolean isUp() {
    return transport() != null;
  }

  /** Why not; empty if they can. */
  String problem() {
    return adapter.state() instanceof AdapterState.Absent<OwnerTransport> absent
        ? absent.why()
        : "";
  }

  /** Jobs that run here. */
  int jobs() {
    return registry.size();
  }

  /** Where readers connect to; null if they cannot. */
  OwnerTransport transport() {
    return adapter.state() instanceof AdapterState.Open<OwnerTransport> open
        ? open.transport()
        : null;
  }

  /** Ends every session, deregisters everything. Idempotent. */
  @Override
  public void close() {
    adapter.close();
    worker.shutdown();
    try {
      if (!worker.awaitTermination(CLOSE_TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
        LOG.warn("[{}] jobs are still being taken off after {}", site.name(), CLOSE_TIMEOUT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Reducers know this host by the name it registered with; the adapter must have its address. */
  private record Host(NodeSite site) implements AdapterHost {
    @Override
    public String processName() {
      return site.name();
    }

    @Override
    public InetAddress address() throws UnknownHostException {
      String host = site.conf().get(HOST_KEY, "");
      return host.isEmpty() || host.equals("0.0.0.0")
          ? InetAddress.getLocalHost()
          : InetAddress.getByName(host);
    }
  }

  @Override
  public boolean admit(long credentialId, byte[] secret) throws TransportException {
    OwnerTransport open = transport();
    return open == null || open.admit(credentialId, secret);
  }

  @Override
  public CompletableFuture<Void> withdraw(long credentialId) {
    OwnerTransport open = transport();
    return open == null ? CompletableFuture.completedFuture(null) : open.withdraw(credentialId);
  }
}
