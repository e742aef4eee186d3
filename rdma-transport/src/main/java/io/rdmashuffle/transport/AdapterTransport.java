package io.rdmashuffle.transport;

import io.rdmashuffle.transport.channel.ChannelLayer;
import io.rdmashuffle.transport.channel.ChannelParts;
import io.rdmashuffle.transport.client.ClientParts;
import io.rdmashuffle.transport.client.ClientThreads;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.RdmaBlockClient;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.FileWindows;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.memory.OrdinarySource;
import io.rdmashuffle.transport.memory.SlabSource;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.RdmaBlockServer;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the three kinds of transport have in common: threads and connections over an adapter, and
 * what is put on top of them. Everything that is opened goes on one stack, which closes it in the
 * right order.
 */
abstract class AdapterTransport implements Transport {
  private static final Logger LOG = LoggerFactory.getLogger(AdapterTransport.class);

  private final OpenedAdapter adapter;
  private final Threads threads;
  private final TransportThreads pools;
  private final ChunkPool pool; // null without a reader
  private final ChunkPool overflow; // null without a reader
  private final ChannelLayer layer;
  private final SplittableRandom random = new SplittableRandom();
  private final CompletableFuture<String> lost = new CompletableFuture<>();
  private CloseStack parts = new CloseStack(); // locked: closed once, by one thread

  /** Protection domains that connections belong to must be on the stack already. */
  AdapterTransport(OpenedAdapter adapter, CloseStack undo) throws TransportException {
    this.adapter = adapter;
    StaticInitializers.run();
    String name = adapter.site().name();
    logPlan(name);
    threads = new Threads(name, adapter.site().gate());
    pools = undo.push(new TransportThreads(threads));
    pool = adapter.role().reads() ? undo.push(newPool(sinks(), adapter.plan().pool())) : null;
    overflow =
        adapter.role().reads() ? undo.push(newPool(beside(), adapter.plan().overflow())) : null;
    layer =
        undo.push(
            ChannelLayer.open(
                new ChannelParts(
                    adapter.device(),
                    host(),
                    adapter.outbound(),
                    adapter.budget(),
                    adapter.counters(),
                    adapter.site().clock()),
                adapter.settings().channel(),
                threads));
    pools.reportTo(layer.loop());
    layer.addDeviceListener(this::onDeviceEvent);
  }

  private void logPlan(String name) {
    String plan = adapter.plan().describe(adapter.role());
    if (adapter.isShortOfMemlock()) {
      LOG.warn("[{}] {}", name, plan);
    } else {
      LOG.info("[{}] {}", name, plan);
    }
  }

  /** The last step of opening: from here on this owns what was pushed. */
  final synchronized void opened(CloseStack undo) { // see parts
    parts = undo.handOver();
    LOG.info("[{}] RDMA through {}", adapter.site().name(), describe());
  }

  private void onDeviceEvent(AsyncEvent event) {
    if (event.isFinal()) {
      lost.complete(describe() + " is lost: " + event.type() + " (" + event.code() + ")");
    }
  }

  @Override
  public final CompletionStage<String> lost() {
    return lost.minimalCompletionStage();
  }

  @Override
  public final synchronized void close() { // see parts; a second caller waits for the first
    if (parts == null) {
      return;
    }
    CloseStack closing = parts;
    parts = null;
    Throwable failure = null;
    try {
      closing.close();
    } catch (Throwable e) { // whatever it is, the host goes on
      failure = e;
    }
    try {
      logWhatIsLeft(failure);
    } catch (OutOfMemoryError e) {
      // allow(swallow): there is no memory to tell it with, and the host goes on
      Thread.onSpinWait();
    }
  }

  private static int failures(Throwable e) {
    return 1 + Stream.of(e.getSuppressed()).mapToInt(AdapterTransport::failures).sum();
  }

  /**
   * @param failure of parts to be closed; null if all could be
   */
  private void logWhatIsLeft(Throwable failure) {
    String failed =
        failure == null
            ? ""
            : "; "
                + failures(failure)
                + " parts could not be closed, the first: "
                + failure.getMessage();
    if (failure != null) {
      LOG.debug("what could not be closed", failure);
    }
    String left =
        levels().entrySet().stream()
            .filter(level -> level.getValue() != 0)
            .map(level -> level.getKey() + "=" + level.getValue())
            .collect(Collectors.joining(", "));
    if (left.isEmpty() && failed.isEmpty()) {
      LOG.info("[{}] RDMA closed, nothing is left", adapter.site().name());
    } else {
      LOG.warn("[{}] RDMA closed, left behind: {}{}", adapter.site().name(), left, failed);
    }
  }

  private ChunkPool newPool(SlabSource source, ChunkPoolSettings shape) {
    return new ChunkPool(source, shape, pools.slow(), adapter.site().clock());
  }

  /** Memory that blocks are copied to when the other has no room. */
  private SlabSource beside() {
    return new OrdinarySource(host(), "OVERFLOW");
  }

  /** Memory that READs land in. On iWARP the peer's adapter writes it, in this domain alone. */
  private SlabSource sinks() {
    Access access =
        adapter.device().attributes().iwarp() ? Access.LOCAL_AND_REMOTE_WRITE : Access.LOCAL_WRITE;
    return new MemorySource(
        host(), adapter.outbound(), adapter.budget(), MemoryBudget.Use.READER_POOL, access);
  }

  private HostMemory host() {
    return adapter.site().provider().hostMemory();
  }

  final TransportThreads pools() {
    return pools;
  }

  final ChannelLayer layer() {
    return layer;
  }

  /** Of the slow threads, all but one may serve; the last grows the pool. */
  final RdmaBlockServer openServer(BlockCatalog catalog, CloseStack undo) {
    int slowThreads = TransportThreads.SLOW_THREADS - 1;
    return undo.push(
        new RdmaBlockServer(
            new RdmaBlockServer.Threads(layer.loop(), pools.slow(), slowThreads, random.split()),
            new RdmaBlockServer.Memory(
                host(),
                adapter.budget(),
                new FileWindows(host(), adapter.budget()),
                adapter.plan().staging()),
            catalog,
            adapter.settings().server(),
            adapter.counters()));
  }

  final RdmaBlockClient openClient(Discovery discovery, CloseStack undo) {
    RdmaBlockClient client =
        undo.push(
            new RdmaBlockClient(
                new ClientParts(
                    layer.loop(),
                    layer.dialer(),
                    discovery,
                    pool,
                    overflow,
                    new ClientThreads(pools.copy(), pools.delivery()),
                    adapter.counters(),
                    random.split(),
                    adapter.settings().client(),
                    adapter.settings().channel())));
    layer.addDeviceListener(client);
    pool.warmUp();
    return client;
  }

  @Override
  public final Counters counters() {
    return adapter.counters();
  }

  @Override
  public final String describe() {
    return adapter.device().name() + " at " + adapter.site().address().getHostAddress();
  }

  @Override
  public final Map<String, Long> levels() {
    Map<String, Long> levels = new LinkedHashMap<>();
    for (MemoryBudget.Use use : MemoryBudget.Use.values()) {
      String name = use.name().toLowerCase(Locale.ROOT).replace('_', '-');
      levels.put("registered-bytes." + name, adapter.budget().usedBytes(use));
    }
    levels.put("pool.chunks-out", pool == null ? 0L : pool.chunksOut());
    levels.put("overflow-bytes", overflow == null ? 0L : overflow.registeredBytes());
    levels.put("overflow.chunks-out", overflow == null ? 0L : overflow.chunksOut());
    levels.put("connections", (long) layer.connections());
    levels.put("leases", adapter.counters().value(Counter.LEASES_LIVE));
    levels.put("threads", (long) threads.alive());
    return levels;
  }
}
