package io.rdmashuffle.transport;

import io.rdmashuffle.transport.channel.ChannelLayer;
import io.rdmashuffle.transport.channel.ChannelParts;
import io.rdmashuffle.transport.client.ClientParts;
import io.rdmashuffle.transport.client.ClientThreads;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.RdmaBlockClient;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads and connections over an adapter, and what is put on top of them: a server, a client, or
 * both. Everything it opens goes on the stack it is given, which closes it in the right order.
 */
final class TransportBase {
  private static final Logger LOG = LoggerFactory.getLogger(TransportBase.class);

  private final OpenedAdapter adapter;
  private final TransportThreads threads;
  private final ChunkPool pool; // null without a reader
  private final ChunkPool overflow; // null without a reader
  private final ChannelLayer layer;
  private final SplittableRandom random = new SplittableRandom();
  private final CompletableFuture<String> lost = new CompletableFuture<>();

  /** Protection domains that connections belong to must be on the stack already. */
  TransportBase(OpenedAdapter adapter, CloseStack undo) throws TransportException {
    this.adapter = adapter;
    String name = adapter.site().name();
    LOG.info("[{}] {}", name, adapter.plan().describe(adapter.role()));
    undo.push(this::logWhatIsLeft); // closed after everything that is pushed from here on
    threads = undo.push(new TransportThreads(name));
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
                name));
    layer.addDeviceListener(this::onDeviceEvent);
  }

  private void onDeviceEvent(AsyncEvent event) {
    String why = describe() + " is lost: " + event.type() + " (" + event.code() + ")";
    if (event.isFinal() && lost.complete(why)) {
      LOG.error("[{}] {}; no RDMA from now on", adapter.site().name(), why);
    }
  }

  /** As {@link RdmaTransport#lost}. */
  CompletionStage<String> lost() {
    return lost.minimalCompletionStage();
  }

  private void logWhatIsLeft() {
    String left =
        levels().entrySet().stream()
            .filter(level -> level.getValue() != 0)
            .map(level -> level.getKey() + "=" + level.getValue())
            .collect(Collectors.joining(", "));
    if (left.isEmpty()) {
      LOG.info("[{}] RDMA closed, nothing is left", adapter.site().name());
    } else {
      LOG.warn("[{}] RDMA closed, left behind: {}", adapter.site().name(), left);
    }
  }

  private ChunkPool newPool(SlabSource source, ChunkPoolSettings shape) {
    return new ChunkPool(source, shape, threads.slow(), adapter.site().clock());
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

  TransportThreads threads() {
    return threads;
  }

  ChannelLayer layer() {
    return layer;
  }

  /** Of the slow threads, all but one may serve; the last grows the pool and asks peers. */
  RdmaBlockServer openServer(BlockCatalog catalog, CloseStack undo) {
    int slowThreads = TransportThreads.SLOW_THREADS - 1;
    return undo.push(
        new RdmaBlockServer(
            new RdmaBlockServer.Threads(layer.loop(), threads.slow(), slowThreads, random.split()),
            new RdmaBlockServer.Memory(
                host(),
                adapter.budget(),
                new FileWindows(host(), adapter.budget()),
                adapter.plan().staging()),
            catalog,
            adapter.settings().server(),
            adapter.counters()));
  }

  RdmaBlockClient openClient(Discovery discovery, CloseStack undo) {
    RdmaBlockClient client =
        undo.push(
            new RdmaBlockClient(
                new ClientParts(
                    layer.loop(),
                    layer.dialer(),
                    discovery,
                    pool,
                    overflow,
                    new ClientThreads(threads.slow(), threads.copy(), threads.delivery()),
                    adapter.counters(),
                    random.split(),
                    adapter.settings().client(),
                    adapter.settings().channel())));
    layer.addDeviceListener(client);
    pool.warmUp();
    return client;
  }

  Counters counters() {
    return adapter.counters();
  }

  /** The adapter and its address, for users. */
  String describe() {
    return adapter.device().name() + " at " + adapter.site().address().getHostAddress();
  }

  /** As {@link RdmaTransport#levels}. */
  Map<String, Long> levels() {
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
