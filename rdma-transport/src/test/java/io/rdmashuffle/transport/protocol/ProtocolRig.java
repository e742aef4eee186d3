package io.rdmashuffle.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.server.ServerSettings;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * An owner and a reader on one device, each with its own budget. Windows are 64 KiB, so that small
 * files have many; deadlines are long, so that a busy machine makes no fallbacks. Closing it checks
 * that both give everything back.
 */
public final class ProtocolRig implements AutoCloseable {
  /** Longest window. */
  public static final int WINDOW_BYTES = 64 << 10;

  /** Blocks below that are copied at first. */
  public static final int STAGE_BELOW_BYTES = 16 << 10;

  /** Blocks up to that travel in the reply. */
  public static final int INLINE_BYTES = 512;

  private static final long STAGING_BYTES = 4 << 20;
  private final AtomicInteger discoveries = new AtomicInteger();
  private final OwnerSide owner;
  private final ReaderSide reader;
  private volatile Tickets.Ticket forced;

  private ProtocolRig(
      VerbsProvider provider, InetAddress address, Path directory, MemoryBudget ownerBudget)
      throws IOException {
    ServerSettings settings =
        new ServerSettings(
            INLINE_BYTES,
            WINDOW_BYTES,
            STAGE_BELOW_BYTES,
            STAGING_BYTES,
            Patience.seconds(8),
            Patience.seconds(1));
    ClientSettings client =
        new ClientSettings(
            16 << 20,
            64 << 10,
            25,
            32 << 10,
            1 << 20,
            Patience.seconds(35),
            Patience.seconds(5),
            Patience.seconds(8),
            Duration.ofMillis(20),
            Duration.ofMillis(100));
    owner = new OwnerSide(provider, address, directory, settings, ownerBudget);
    reader = new ReaderSide(provider, address, this::discover, client, budget(64 << 20, Map.of()));
  }

  /** Room for everything the tests ask for. */
  public static ProtocolRig open(VerbsProvider provider, InetAddress address, Path directory)
      throws IOException {
    return new ProtocolRig(provider, address, directory, budget(128 << 20, Map.of()));
  }

  /** An owner that may register so much for windows, beside staging and messages. */
  public static ProtocolRig openWithWindowsOf(
      long windowBytes, VerbsProvider provider, InetAddress address, Path directory)
      throws IOException {
    long rest = 8 << 20; // half for messages, half for staging
    long bound = rest + windowBytes;
    int share = (int) ((rest / 2 * 100 + bound - 1) / bound);
    Map<Use, Integer> guaranteed = Map.of(Use.MESSAGES, share, Use.STAGING, share);
    return new ProtocolRig(provider, address, directory, budget(bound, guaranteed));
  }

  private static MemoryBudget budget(long bytes, Map<Use, Integer> guaranteed) {
    return MemoryBudget.of(List.of(new MemoryBudget.Bound(bytes, "contract", "none")), guaranteed);
  }

  private CompletableFuture<Discovery.Invitation> discover(Peer peer) {
    discoveries.incrementAndGet();
    Tickets.Ticket ticket = forced != null ? forced : owner.tickets().issue();
    return CompletableFuture.completedFuture(
        new Discovery.Invitation.Ticket(List.of(owner.address()), ticket.id(), ticket.secret()));
  }

  public OwnerSide owner() {
    return owner;
  }

  public ReaderSide reader() {
    return reader;
  }

  /** How often the reader asked for a ticket. */
  public int discoveries() {
    return discoveries.get();
  }

  /** From now on discovery hands out a ticket that has been used. */
  public void discoverOnlyUsedTickets() {
    Tickets.Ticket used = owner.tickets().issue();
    assertThat(owner.tickets().redeem(used.id(), null)).isTrue();
    forced = used;
  }

  /** From now on discovery hands out a ticket that has expired. */
  public void discoverOnlyExpiredTickets() {
    Tickets.Ticket expired = owner.tickets().issue();
    owner.tickets().expire(expired);
    forced = expired;
  }

  /** Undoes what was forced on discovery. */
  public void discoverFreshTickets() {
    forced = null;
  }

  /** Fetches and waits. */
  public Fetched fetch(List<BlockKey> keys) throws InterruptedException {
    return reader.fetch(keys).await();
  }

  /** Waits for a condition that must come true. */
  public static void await(String what, BooleanSupplier condition) {
    long deadlineNs = System.nanoTime() + Patience.seconds(20).toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadlineNs).as(what).isNegative();
      Thread.onSpinWait();
    }
  }

  @Override
  public void close() {
    reader.close();
    await("leases end with the reader", () -> owner.count(Counter.LEASES_LIVE) == 0);
    owner.close();
    assertThat(reader.registeredBytes()).as("bytes left at the reader").isZero();
    assertThat(owner.registeredBytes()).as("bytes left at the owner").isZero();
  }
}
