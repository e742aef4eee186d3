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
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.WorkerPool;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
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

  private final NodeSite site;
  private final JobRegistry registry;
  private final Adapters adapters;
  private final RejectedExecutionException noWorker =
      new RejectedExecutionException("there is no thread for it yet");
  private final AdapterLifecycle<OwnerTransport> adapter;
  private volatile WorkerPool worker; // null until there was a thread for it
  private volatile HostMemory host; // null until there is an adapter
  private boolean closed;

  private NodeServer(
      NodeSite site, MapReduceSettings settings, Adapters adapters, JobRegistry.Store store) {
    this.site = site;
    this.adapters = adapters;
    JobCatalog catalog =
        new JobCatalog(
            new MapOutputLocator(site.directories(), () -> host, FileOwners.demandedHere()),
            new IndexCache(INDEX_CACHE_BYTES));
    adapter =
        new AdapterSetup(this::find, new Host(site), settings.transport(), adapters.gate())
            .forOwner(
                adapters.rules(), catalog, settings.port().portFor(site.httpPort()), this::onOpen);
    registry = new JobRegistry(this::toWorker, this, catalog, store);
  }

  /**
   * Where the adapter comes from, and how long to wait for another.
   *
   * @param source finds it
   * @param rules of its life cycle
   * @param gate where threads come from
   */
  record Adapters(AdapterSource source, AdapterRules rules, Gate gate) {}

  /** Begins to open, and takes up the jobs of before a restart. Does not wait for the adapter. */
  static NodeServer start(NodeSite site, MapReduceSettings settings) {
    AdapterSource source = new AdapterFinder(settings.device())::find;
    return start(site, settings, new Adapters(source, rules(site), Gate.OPEN));
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

  /** Begins with the worker: jobs come and go, and are recorded, also where there is no adapter. */
  private AdapterFinder.Found find(AdapterFinder.EngineAddress address) throws TransportException {
    openWorker();
    registry.wake();
    return adapters.source().find(address);
  }

  private synchronized void openWorker() throws TransportException { // once, and not after the end
    if (worker == null && !closed) {
      worker = WorkerPool.open(new Threads(site.name(), adapters.gate()), "jobs", 1);
    }
  }

  private void toWorker(Work work) {
    WorkerPool open = worker;
    if (open == null) {
      work.abandon(noWorker);
    } else {
      open.execute(work);
    }
  }

  /** Before the first reader may connect: jobs bring their credentials. */
  private void onOpen(OwnerTransport transport) {
    host = transport.hostMemory();
    registry.onOpen();
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

  /** A job runs a container here. */
  void add(Job job) {
    registry.add(job);
    adapter.begin(); // if there was no thread for it
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
    WorkerPool ending = endOfWorker();
    if (ending != null) {
      ending.close(CLOSE_TIMEOUT);
    }
    if (ending == null || ending.alive() == 0) {
      registry.settle(); // for the records of what the worker was refused
    }
  }

  private synchronized WorkerPool endOfWorker() {
    closed = true;
    return worker;
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
