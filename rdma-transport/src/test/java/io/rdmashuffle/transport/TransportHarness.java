package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whole transports in one JVM, as if each were a process of its own, with files of its own. After
 * each test they are closed, and nothing may be left of them.
 */
abstract class TransportHarness {
  static final MemoryBudget.Bound ENOUGH =
      new MemoryBudget.Bound(512 << 20, "the test's bound", "none");

  @TempDir Path directory;

  /**
   * A reader's pool of 1 MiB in chunks of 64 KiB, a quarter of it for blocks that are copied out.
   *
   * @param breakerMinimum pause after the first failure
   * @param breakerMaximum longest pause
   */
  static TransportSettings smallPool(
      Duration fetchTimeout,
      Duration memoryTimeout,
      Duration breakerMinimum,
      Duration breakerMaximum) {
    TransportSettings defaults = Patience.transportDefaults(ENOUGH);
    return new TransportSettings(
        defaults.channel(),
        defaults.server(),
        new ClientSettings(
            1 << 20,
            64 << 10,
            25,
            64 << 10,
            512 << 10,
            fetchTimeout,
            defaults.client().discoveryTimeout(),
            memoryTimeout,
            breakerMinimum,
            breakerMaximum),
        ENOUGH,
        defaults.overflow());
  }

  private final Map<String, Process> processes = new ConcurrentHashMap<>();

  /** Libraries of one more process. */
  protected abstract VerbsProvider provider() throws Exception;

  /** Address of an adapter for one more process. */
  protected abstract InetAddress address() throws Exception;

  /** What hand-overs between the threads of one more process pass. */
  protected Gate gate() {
    return Gate.OPEN;
  }

  /** Fails if anything is open, after all transports are closed. */
  protected abstract void assertNothingOpen() throws Exception;

  /** One process with a transport. */
  final class Process {
    final Outputs outputs;
    final RdmaTransport transport;
    final Peer peer;

    Process(String id, TransportSettings settings) throws Exception {
      this(id, provider(), settings);
    }

    Process(String id, VerbsProvider libraries, TransportSettings settings) throws Exception {
      peer = new Peer(id, "host-" + id, 7337);
      outputs = new Outputs(Files.createDirectory(directory.resolve(id)));
      transport =
          RdmaTransport.open(
              new Transport.Site(libraries.lent(), address(), id, NanoClock.system(), gate()),
              new RdmaTransport.Engine(outputs, TransportHarness.this::discover),
              settings);
      processes.put(id, this);
    }

    long registeredBytes() {
      return transport.levels().entrySet().stream()
          .filter(level -> level.getKey().startsWith("registered-bytes."))
          .mapToLong(Map.Entry::getValue)
          .sum();
    }

    Collected fetch(Process owner, List<BlockKey> keys) {
      Collected collected = new Collected(keys);
      transport.client().fetch(owner.peer, keys, collected);
      return collected;
    }
  }

  final CompletableFuture<Invitation> discover(Peer peer) {
    RdmaTransport owner = processes.get(peer.id()).transport;
    TicketOffice.Ticket ticket = owner.tickets().issue();
    return CompletableFuture.completedFuture(
        new Invitation.Ticket(
            List.of(owner.listenAddress()), ticket.credentialId(), ticket.secret()));
  }

  final Process process(String id) throws Exception {
    return new Process(id, Patience.transportDefaults(ENOUGH));
  }

  @AfterEach
  final void nothingIsLeft() throws Exception {
    closeAll();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("rdma-shuffle-"));
  }

  /** Ends all processes there are. What one leaves behind is judged once, not in later tests. */
  final void closeAll() throws Exception {
    List<Process> closing = List.copyOf(processes.values());
    processes.clear();
    closing.forEach(process -> process.transport.close()); // all, before any is judged
    for (Process process : closing) {
      assertThat(process.transport.levels().values())
          .as("%s: %s", process.peer.id(), process.transport.levels())
          .containsOnly(0L);
    }
    assertNothingOpen();
  }
}
