package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.core.adapter.AdapterRules;
import io.rdmashuffle.core.adapter.AdapterState;
import io.rdmashuffle.core.adapter.AdapterState.Outlook;
import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.spark.catalog.MapOutput;
import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.PeerTransport;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.server.OutputFile;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * RDMA in one process: asks for the adapter when the first task shuffles, tells peers and tasks
 * whether there is one, and knows the map outputs that it serves.
 *
 * <p><b>Threads:</b> any. Only {@link #open} and {@link #close} wait, both with a deadline.
 */
public final class ShuffleRuntime implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShuffleRuntime.class);

  /** Opening takes well under a second; an adapter that hangs must not hang tasks. */
  private static final Duration OPEN_TIMEOUT = Duration.ofSeconds(30);

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  private static final Availability.Absent UNUSED =
      new Availability.Absent(
          FallbackReason.PEER_WITHOUT_RDMA, "no task has shuffled here yet", Outlook.NOT_YET);
  private static final Availability.Absent CLOSED =
      Availability.Absent.forGood(FallbackReason.STOPPING, "this process is stopping");

  private final FallbackPolicy policy;
  private final MapOutputCatalog catalog;
  private final AdapterLifecycle<PeerTransport> adapter;
  private final EngineCounters engineCounters = new EngineCounters();
  private final AtomicBoolean ruledOutLogged = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();

  /**
   * @param adapters makes the life cycle of an adapter, which is closed with this
   */
  public ShuffleRuntime(
      FallbackPolicy policy,
      MapOutputCatalog catalog,
      Function<AdapterRules, AdapterLifecycle<PeerTransport>> adapters) {
    this.policy = policy;
    this.catalog = catalog;
    this.adapter =
        adapters.apply(
            AdapterRules.forExecutor(
                "this process", policy.otherwise(), OPEN_TIMEOUT, CLOSE_TIMEOUT));
  }

  /**
   * For the first writer or reader of a process: opens the transport unless it was tried before,
   * and waits for it.
   *
   * @throws RdmaRequiredException if there is no RDMA and the mode requires it
   */
  public Availability open() {
    Availability state = opened();
    if (state instanceof Availability.Absent absent) {
      policy.accept(absent);
    }
    return state;
  }

  private Availability opened() {
    if (closed.get()) {
      return CLOSED;
    }
    if (policy.ruledOut().isPresent()) {
      logRuledOut(policy.ruledOut().get());
      return policy.ruledOut().get();
    }
    try {
      return availability(adapter.open());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Availability.Absent(
          FallbackReason.STOPPING, "interrupted while waiting for RDMA", Outlook.NOT_YET);
    }
  }

  private void logRuledOut(Availability.Absent ruledOut) {
    if (!ruledOutLogged.compareAndSet(false, true)) {
      return;
    }
    if (policy.mode() == Mode.OFF) {
      LOG.info("RDMA shuffle is switched off: {}", ruledOut.text());
    } else {
      LOG.warn("no RDMA in this process, {}: {}", policy.otherwise(), ruledOut.text());
    }
  }

  /** The state now; never waits and never opens anything. */
  public Availability state() {
    if (closed.get()) {
      return CLOSED;
    }
    return policy
        .ruledOut()
        .<Availability>map(absent -> absent)
        .orElseGet(() -> availability(adapter.state()));
  }

  private Availability availability(AdapterState<PeerTransport> now) {
    if (now instanceof AdapterState.Open<PeerTransport> open) {
      return new Availability.Open(open.transport());
    }
    AdapterState.Absent<PeerTransport> absent = (AdapterState.Absent<PeerTransport>) now;
    return adapter.isUnused()
        ? UNUSED
        : new Availability.Absent(FallbackReason.NO_DEVICE, absent.why(), absent.outlook());
  }

  /**
   * What to answer a peer that asks how to reach this process; never waits. A process that has not
   * shuffled yet, but received map outputs of others, begins to open the transport: the next
   * question finds it open.
   */
  public Invitation invitation() {
    Availability now = state();
    if (now instanceof Availability.Open open) {
      return open.transport().issueTicket();
    }
    Availability.Absent absent = (Availability.Absent) now;
    if (absent.outlook() == Outlook.NOT_YET) {
      adapter.begin();
      return new Invitation.NotYet(absent.text());
    }
    return new Invitation.None(FallbackReason.PEER_WITHOUT_RDMA, absent.text());
  }

  /** A map output was committed. Remembered only where it can be served by RDMA. */
  public void register(int group, long output, MapOutput mapOutput) {
    if (state() instanceof Availability.Open open) {
      catalog
          .register(group, output, mapOutput)
          .ifPresent(earlier -> open.transport().forget(List.of(earlier)));
    }
  }

  /** A map output's files were deleted. */
  public void remove(int group, long output) {
    catalog.remove(group, output).ifPresent(file -> forget(List.of(file)));
  }

  /** The files of all map outputs of a group were deleted. */
  public void removeGroup(int group) {
    forget(catalog.removeGroup(group));
  }

  /** Map outputs that can be served by RDMA now. */
  public int outputs() {
    return catalog.outputs();
  }

  private void forget(Collection<OutputFile> files) {
    if (!files.isEmpty() && state() instanceof Availability.Open open) {
      open.transport().forget(files);
    }
  }

  /** What the engine's own shuffle delivered; written by the engine's adapter. */
  public EngineCounters engineCounters() {
    return engineCounters;
  }

  /** Of a lost adapter, the counters stay. */
  public RuntimeSnapshot snapshot() {
    return new Snapshots(
            state(), closed.get() ? Optional.empty() : adapter.last(), engineCounters, catalog)
        .take();
  }

  /**
   * Idempotent. Closes the transport; also one that is just being opened, once it is. Waits five
   * seconds at most; what takes longer goes on in the background and is logged.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      adapter.close();
    }
  }
}
