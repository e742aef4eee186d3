package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.OwnerChannel;
import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.handover.Workers;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.FileWindows;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.HostMemory;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The block server of one device: serves every reader of its channel layer out of one catalog.
 *
 * <p><b>Threads:</b> all state is confined to the progress thread; the slow pool opens, registers,
 * reads and deregisters. <b>Ownership:</b> what it is made with is lent; it must be closed before
 * the slow pool, the loop, and the protection domains of its readers.
 */
public final class RdmaBlockServer implements BlockServer {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaBlockServer.class);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);

  private final ProgressLoop loop;
  private final ServerParts parts;
  private final LongSupplier leaseIds;
  private final Map<ProtectionDomain, DomainState> domains = new HashMap<>();

  /** Nobody is served there any more. Weak: a closed domain cannot be connected to. */
  private final Set<ProtectionDomain> forgottenDomains =
      Collections.newSetFromMap(new WeakHashMap<>());

  private final Set<CompletableFuture<Void>> forgetting = new HashSet<>();
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final Signal stop; // made in advance: closing must not fail
  private boolean stopping;
  private boolean stopBegun; // every domain knows

  /**
   * Where the server runs.
   *
   * @param loop of the device's progress thread
   * @param slowPool opens, registers, reads and deregisters
   * @param slowThreads of that pool that this server may keep busy
   * @param random names leases; any seed will do outside tests
   */
  public record Threads(
      ProgressLoop loop, Workers slowPool, int slowThreads, RandomGenerator random) {}

  /**
   * What the server may register.
   *
   * @param budget shared with everything that registers memory in this process
   * @param staging shape of the memory for copies of blocks, of each domain
   */
  public record Memory(
      HostMemory host, MemoryBudget budget, FileWindows fileWindows, ChunkPoolSettings staging) {}

  public RdmaBlockServer(
      Threads threads,
      Memory memory,
      BlockCatalog catalog,
      ServerSettings settings,
      Counters counters) {
    this.loop = threads.loop();
    this.stop = new Signal(loop, this::stopInLoop);
    this.leaseIds = LeaseTable.idsFrom(threads.random().nextLong());
    this.parts =
        new ServerParts(
            loop,
            threads.slowPool(),
            new SlowLanes(loop, threads.slowPool(), threads.slowThreads()),
            memory,
            new WindowRoom(memory.budget(), loop::nowNs),
            new StagingShares(memory.budget(), memory.staging()),
            new KeyRoom(),
            catalog,
            settings,
            counters,
            new Reports(loop::nowNs),
            // Weak: a file that the catalog has let go of cannot be asked for again.
            Collections.newSetFromMap(new WeakHashMap<>()));
    loop.addRecovery(this::recover);
  }

  /** Connections end by themselves, and with them their sessions; files and domains go on. */
  private void recover(Throwable cause) {
    List.copyOf(domains.values()).forEach(DomainState::recover);
    if (stopping) {
      stopInLoop();
    }
  }

  @Override
  public OwnerChannel.Acceptor acceptor() {
    return this::onOpen;
  }

  private OwnerChannel.Session onOpen(OwnerChannel channel) {
    DomainState domain = domains.computeIfAbsent(channel.domain(), d -> new DomainState(parts, d));
    ServerSession session = new ServerSession(parts, domain, channel, leaseIds);
    try {
      domain.add(session);
      if (stopping || domain.isClosing()) {
        session.revoke(new TransportException(Kind.RETRY, "the owner stops"));
      } else if (forgottenDomains.contains(channel.domain())) {
        close(channel.domain(), () -> {});
      }
    } catch (RuntimeException | Error e) {
      domain.remove(session); // the channel will not tell it of its end
      throw e;
    }
    return session;
  }

  @Override
  public CompletableFuture<Void> forget(Collection<OutputFile> files) {
    Set<OutputFile> copy = Set.copyOf(files);
    return inLoop(future -> forget(copy, future));
  }

  private void forget(Set<OutputFile> files, CompletableFuture<Void> future) {
    parts.forgotten().addAll(files);
    List<DomainState> asked = List.copyOf(domains.values());
    ProgressLoop.Timer force =
        loop.schedule(parts.settings().revokeAfter().toNanos(), () -> revoke(files));
    Countdown left =
        new Countdown(
            files.size() * asked.size(),
            () -> {
              force.cancel();
              complete(future);
            });
    asked.forEach(d -> files.forEach(f -> d.windows().forget(f, left::arrive)));
  }

  /** Readers had time enough: whoever still holds a lease on these files loses its connection. */
  private void revoke(Set<OutputFile> files) {
    List<ServerSession> holders = new ArrayList<>();
    for (DomainState domain : domains.values()) {
      domain.sessions().stream()
          .filter(s -> s.leases().holdsAny(files::contains))
          .forEach(holders::add);
    }
    String afterMs = parts.settings().revokeAfter().toMillis() + " ms after it went away";
    for (ServerSession holder : holders) {
      parts
          .reports()
          .limited(
              holder.host(),
              more ->
                  LOG.warn(
                      "Closing the connection of {}: it holds a lease on a map output {}{}",
                      holder,
                      afterMs,
                      more));
      holder.revoke(
          new TransportException(Kind.RETRY, "a lease on a map output was held " + afterMs));
    }
  }

  @Override
  public CompletableFuture<Void> forget(ProtectionDomain domain) {
    return inLoop(
        future -> {
          forgottenDomains.add(domain);
          close(domain, () -> complete(future));
        });
  }

  private void close(ProtectionDomain domain, Runnable whenClosed) {
    DomainState state = domains.get(domain);
    if (state == null) {
      whenClosed.run();
      return;
    }
    state.close(
        new TransportException(Kind.RETRY, "the owner's protection domain goes away"),
        () -> {
          whenClosed.run();
          if (!stopping) { // until onStopped() a domain that is left is recovered
            domains.remove(domain, state);
          }
        });
  }

  /** Runs on the progress thread, with a future that stopping the server completes in any case. */
  private CompletableFuture<Void> inLoop(Consumer<CompletableFuture<Void>> task) {
    if (stopped.isDone()) {
      return CompletableFuture.completedFuture(null);
    }
    CompletableFuture<Void> future = new CompletableFuture<>();
    loop.execute(
        () -> {
          forgetting.add(future);
          if (stopped.isDone()) {
            complete(future);
          } else {
            begin(task, future);
          }
        });
    return future;
  }

  private void begin(Consumer<CompletableFuture<Void>> task, CompletableFuture<Void> future) {
    try {
      task.accept(future);
    } catch (RuntimeException | Error e) {
      forgetting.remove(future);
      future.completeExceptionally(e);
      throw e;
    }
  }

  private void complete(CompletableFuture<Void> future) {
    forgetting.remove(future);
    future.complete(null);
  }

  /**
   * What {@link #close} waits for.
   *
   * @return completes when every session is closed and nothing is registered any more
   */
  public CompletableFuture<Void> stop() {
    stop.raise();
    return stopped;
  }

  private void stopInLoop() {
    if (stopBegun) {
      return;
    }
    stopping = true;
    List<DomainState> all = List.copyOf(domains.values());
    Countdown left = new Countdown(all.size(), this::onStopped);
    all.forEach(d -> d.close(new TransportException(Kind.RETRY, "the owner stops"), left::arrive));
    stopBegun = true;
  }

  private void onStopped() {
    stopped.complete(null);
    List.copyOf(forgetting).forEach(this::complete);
    domains.clear(); // last: what an Error keeps from its end is taken up by its domain
  }

  /** Not on the progress thread, which has to do the work. */
  @Override
  public void close() {
    if (loop.inLoop()) {
      throw new IllegalStateException("close() on the progress thread");
    }
    try {
      stop().get(CLOSE_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      LOG.warn("Interrupted while the block server closes; it goes on by itself");
    } catch (TimeoutException e) {
      LOG.error(
          "The block server is not closed after {}: leases or windows are left", CLOSE_TIMEOUT);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
