package io.rdmashuffle.mapreduce.nm;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterSource;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.OwnerTransport;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA in a NodeManager: opens the adapter, listens, and serves the map outputs of the jobs it is
 * told of. All of that happens on a thread of its own, so that neither the NodeManager's start nor
 * its dispatcher waits for an adapter. If it fails there is one warning, and HTTP serves alone.
 *
 * <p><b>Threads:</b> any. <b>Ownership:</b> whoever starts it closes it; that waits, with a
 * deadline.
 */
final class NodeServer implements AutoCloseable, Tenants {
  private static final Logger LOG = LoggerFactory.getLogger(NodeServer.class);
  private static final long INDEX_CACHE_BYTES = 10L << 20; // as Hadoop's IndexCache
  private static final String STORE = "mapreduce_rdma_shuffle";
  private static final String HOST_KEY = "yarn.nodemanager.hostname"; // yarn-default.xml
  private static final long CLOSE_S = 30;
  private static final long IDLE_S = 30;

  private final NodeSite site;
  private final MapReduceSettings settings;
  private final AdapterSource adapters;
  private final JobCatalog catalog;
  private final JobRegistry registry;
  private final ThreadPoolExecutor worker;
  private final CloseStack parts = new CloseStack(); // the worker's
  private volatile HostMemory host; // null until there is an adapter
  private volatile OwnerTransport transport; // null before, after, and if it cannot be had
  private volatile String problem = "it is starting";

  private NodeServer(
      NodeSite site, MapReduceSettings settings, AdapterSource adapters, JobRegistry.Store store) {
    this.site = site;
    this.settings = settings;
    this.adapters = adapters;
    catalog =
        new JobCatalog(
            new MapOutputLocator(site.directories(), () -> host, FileOwners.demandedHere()),
            new IndexCache(INDEX_CACHE_BYTES));
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

  /** Begins to open, and takes up the jobs of before a restart. Does not wait for the adapter. */
  static NodeServer start(NodeSite site, MapReduceSettings settings) {
    long wantedBytes =
        Math.min(
            settings.transport().server().stagingBytes(), settings.transport().memory().bytes());
    return start(site, settings, new AdapterFinder(settings.device(), wantedBytes)::find);
  }

  /** The same on an adapter from elsewhere. */
  static NodeServer start(NodeSite site, MapReduceSettings settings, AdapterSource adapters) {
    JobRegistry.Store store = store(site);
    NodeServer server = new NodeServer(site, settings, adapters, store);
    server.work(server::open);
    server.registry.recover(load(store));
    return server;
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
    registry.add(job);
  }

  /** A job is over. */
  void remove(ApplicationId application) {
    registry.remove(application);
  }

  /** Whether readers can connect. */
  boolean isUp() {
    return transport != null;
  }

  /** Why not; empty if they can. */
  String problem() {
    return problem;
  }

  /** Jobs that run here. */
  int jobs() {
    return registry.size();
  }

  /** Where readers connect to; null if they cannot. */
  OwnerTransport transport() {
    return transport;
  }

  /** Ends every session, deregisters everything. Idempotent. */
  @Override
  public void close() {
    work(() -> closeTransport("it is stopping"));
    worker.shutdown();
    try {
      if (!worker.awaitTermination(CLOSE_S, TimeUnit.SECONDS)) {
        LOG.warn("[{}] RDMA is still closing after {} s", site.name(), CLOSE_S);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- on the worker

  private void open() {
    try {
      openTransport();
      problem = "";
    } catch (TransportException | RuntimeException | LinkageError e) {
      problem = String.valueOf(e.getMessage());
      LOG.warn("[{}] serves map outputs by HTTP only: {}", site.name(), problem, e);
    }
  }

  private void openTransport() throws TransportException {
    int port = settings.port().portFor(site.httpPort());
    try (CloseStack undo = new CloseStack()) {
      AdapterFinder.Found found = adapters.find(this::address, undo);
      host = found.provider().hostMemory(); // before the first reader
      OwnerTransport opened =
          undo.push(
              OwnerTransport.open(
                  new RdmaTransport.Site(
                      found.provider(), found.address(), site.name(), NanoClock.system()),
                  catalog,
                  port,
                  settings.transport()));
      parts.push(undo.handOver());
      transport = opened;
      opened.lost().thenAccept(why -> work(() -> closeTransport(why)));
    }
  }

  /** When the adapter is lost, and in the end. */
  private void closeTransport(String why) {
    transport = null;
    problem = why;
    try {
      parts.close();
    } catch (RuntimeException e) {
      LOG.warn("[{}] not all of RDMA could be closed", site.name(), e);
    }
  }

  /** Reducers know this host by the name it registered with; the adapter must have its address. */
  private InetAddress address() throws UnknownHostException {
    Configuration conf = site.conf();
    String host = conf.get(HOST_KEY, "");
    return host.isEmpty() || host.equals("0.0.0.0")
        ? InetAddress.getLocalHost()
        : InetAddress.getByName(host);
  }

  @Override
  public boolean admit(long credentialId, byte[] secret) throws TransportException {
    OwnerTransport open = transport;
    return open == null || open.admit(credentialId, secret);
  }

  @Override
  public CompletableFuture<Void> withdraw(long credentialId) {
    OwnerTransport open = transport;
    return open == null ? CompletableFuture.completedFuture(null) : open.withdraw(credentialId);
  }
}
