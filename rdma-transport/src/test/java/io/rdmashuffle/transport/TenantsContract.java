package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.client.Block.Source;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.testing.FailingGate;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an owner with tenants and its readers do for each other, with a transport each in one JVM.
 * One subclass per adapter; none may override a test.
 */
abstract class TenantsContract {
  private static final MemoryBudget.Bound ENOUGH =
      new MemoryBudget.Bound(256 << 20, "the test's bound", "none");
  private static final TransportSettings SETTINGS = TransportSettings.defaults(ENOUGH);
  private static final Peer OWNER = new Peer("owner", "host", 13563);
  private static final long JOB = 0x1234_5678_9abc_def0L;
  private static final byte[] SECRET = new byte[32];

  @TempDir Path directory;
  private final ScopedOutputs outputs = new ScopedOutputs();
  private final FailingGate handovers = new FailingGate();
  private final List<ReaderTransport> readers = new ArrayList<>();
  private OwnerTransport owner;

  /** Libraries of one more process. */
  protected abstract VerbsProvider provider() throws Exception;

  /** Address of an adapter for one more process. */
  protected abstract InetAddress address() throws Exception;

  /** Fails if anything is open, after all transports are closed. */
  protected abstract void assertNothingOpen() throws Exception;

  /** Map outputs that belong to one scope each. */
  private final class ScopedOutputs implements BlockCatalog {
    private final Map<Long, Outputs> byScope = new ConcurrentHashMap<>();

    Outputs of(long scope) throws Exception {
      Outputs added =
          new Outputs(Files.createDirectory(directory.resolve(Long.toHexString(scope))));
      byScope.put(scope, added);
      return added;
    }

    @Override
    public BlockLocation find(long scope, BlockKey key) {
      Outputs found = byScope.get(scope);
      return found == null ? null : found.find(scope, key);
    }

    @Override
    public BlockLocation load(long scope, BlockKey key) {
      return find(scope, key);
    }
  }

  @BeforeEach
  final void openOwner() throws Exception {
    owner = OwnerTransport.open(site("owner"), outputs, 0, SETTINGS);
  }

  private Transport.Site site(String name) throws Exception {
    return new Transport.Site(provider().lent(), address(), name, NanoClock.system(), handovers);
  }

  private ReaderTransport reader(long credentialId, byte[] secret) throws Exception {
    Invitation invitation =
        new Invitation.Ticket(List.of(owner.listenAddress()), credentialId, secret);
    ReaderTransport reader =
        ReaderTransport.open(
            site("reader-" + readers.size()),
            peer -> CompletableFuture.completedFuture(invitation),
            SETTINGS);
    readers.add(reader);
    return reader;
  }

  private static Collected fetch(ReaderTransport reader, List<BlockKey> keys) throws Exception {
    Collected collected = new Collected(keys);
    reader.client().fetch(OWNER, keys, collected);
    return collected.await();
  }

  @AfterEach
  final void nothingIsLeft() throws Exception {
    for (ReaderTransport reader : readers) {
      reader.close();
      assertThat(reader.levels().values()).as("%s", reader.levels()).containsOnly(0L);
    }
    owner.close();
    assertThat(owner.levels().values()).as("%s", owner.levels()).containsOnly(0L);
    assertNothingOpen();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .noneMatch(name -> name.startsWith("rdma-shuffle-"));
  }

  @Test
  final void readersWithTheSecretReadAndLearnTheAttributes() throws Exception {
    Outputs of = outputs.of(JOB);
    List<BlockKey> keys = new ArrayList<>(of.write(0, 6, 512, 6000, 65_535, 3 << 20));
    keys.add(of.write(9000, 9000, 9000).get(2)); // not worth a window
    keys.add(of.write(100, 100).get(1));
    of.attributes(key -> key.firstPartition() * 1_000_000_007L);
    owner.admit(JOB, SECRET);

    List<Source> sources = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Collected blocks = fetch(reader(JOB, SECRET), keys);
      assertThat(blocks.reasons()).isEmpty();
      for (int index = 0; index < keys.size(); index++) {
        assertThat(blocks.block(index).attribute())
            .isEqualTo(keys.get(index).firstPartition() * 1_000_000_007L);
        sources.add(blocks.block(index).source());
      }
      blocks.check(of);
    }
    assertThat(sources).contains(Source.INLINE, Source.STAGED, Source.READ);
    assertThat(owner.levels().get("connections")).isEqualTo(2);
  }

  @Test
  final void wrongSecretsAndUnknownTenantsAreRefusedBeforeAnythingIsSaid() throws Exception {
    Outputs of = outputs.of(JOB);
    List<BlockKey> keys = of.write(1000, 100_000);
    owner.admit(JOB, SECRET);
    byte[] wrong = SECRET.clone();
    wrong[31] = 1;

    for (ReaderTransport stranger : List.of(reader(JOB, wrong), reader(JOB + 1, SECRET))) {
      assertThat(fetch(stranger, keys).reasons()).containsOnly(FallbackReason.CONNECT_FAILED);
    }

    Counters counters = owner.counters();
    assertThat(counters.value(Counter.CONNECTIONS_REFUSED)).isEqualTo(2);
    assertThat(counters.value(Counter.CONNECTIONS_OPENED)).isZero();
    assertThat(counters.value(Counter.REGISTRATIONS)).isZero();
  }

  @Test
  final void tenantsSeeOnlyTheirOwn() throws Exception {
    Outputs of = outputs.of(JOB);
    List<BlockKey> keys = of.write(1000, 100_000);
    outputs.of(2);
    owner.admit(JOB, SECRET);
    owner.admit(2, new byte[] {2});

    fetch(reader(JOB, SECRET), keys).check(of);
    assertThat(fetch(reader(2, new byte[] {2}), keys).reasons())
        .containsOnly(FallbackReason.UNKNOWN_BLOCK);
  }

  @Test
  final void aTenantThatGoesAwayTakesItsReadersAndItsRegionsAlong() throws Exception {
    Outputs of = outputs.of(JOB);
    List<BlockKey> keys = of.write(1000, 100_000, 3 << 20);
    Outputs others = outputs.of(2);
    List<BlockKey> otherKeys = others.write(50_000);
    owner.admit(JOB, SECRET);
    owner.admit(2, new byte[] {2});
    ReaderTransport reader = reader(JOB, SECRET);
    ReaderTransport other = reader(2, new byte[] {2});
    fetch(reader, keys).check(of);
    fetch(other, otherKeys).check(others);
    long before = owner.levels().get("registered-bytes.windows");

    owner.withdraw(JOB).get(20, TimeUnit.SECONDS);

    assertThat(owner.tenants()).isEqualTo(1);
    assertThat(owner.levels().get("registered-bytes.windows")).isLessThan(before);
    assertThat(fetch(reader, keys).arrived()).isZero();
    Collected stillThere = fetch(other, otherKeys).check(others);
    assertThat(stillThere.arrived()).isEqualTo(1);
  }

  @Test
  final void aTenantThatCouldNotBeWithdrawnIsWithdrawnLater() throws Exception {
    Outputs of = outputs.of(JOB);
    owner.admit(JOB, SECRET);
    fetch(reader(JOB, SECRET), of.write(1000, 3 << 20)).check(of);

    handovers.failAt(1);
    assertThatThrownBy(() -> owner.withdraw(JOB)).isInstanceOf(OutOfMemoryError.class);
    assertThat(handovers.end()).isTrue();
    owner.withdraw(JOB).get(20, TimeUnit.SECONDS);

    assertThat(owner.tenants()).isZero();
    assertThat(owner.levels().get("registered-bytes.windows")).isZero();
  }

  @Test
  final void aTenantThatCannotBeAdmittedLeavesNothing() {
    assertThatThrownBy(() -> owner.admit(JOB, null)).isInstanceOf(NullPointerException.class);
    assertThat(owner.tenants()).isZero(); // nor a domain: nothingIsLeft
  }

  @Test
  final void aTenantMayComeAgainUnderItsId() throws Exception {
    Outputs of = outputs.of(JOB);
    List<BlockKey> keys = of.write(100_000);
    assertThat(owner.admit(JOB, SECRET)).isTrue();
    assertThat(owner.admit(JOB, SECRET)).as("in use").isFalse();
    CompletableFuture<Void> gone = owner.withdraw(JOB);
    assertThat(owner.admit(JOB, new byte[] {5})).isTrue();

    assertThat(fetch(reader(JOB, new byte[] {5}), keys).check(of).arrived()).isEqualTo(1);
    assertThat(fetch(reader(JOB, SECRET), keys).arrived()).isZero();
    gone.get(20, TimeUnit.SECONDS);
  }

  @Test
  final void aPortInUseIsAnErrorThatNamesIt() throws Exception {
    int taken = owner.listenAddress().getPort();

    assertThatThrownBy(
            () ->
                OwnerTransport.open(
                    new Transport.Site(
                        provider().lent(),
                        owner.listenAddress().getAddress(),
                        "late",
                        NanoClock.system()),
                    outputs,
                    taken,
                    SETTINGS))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining(String.valueOf(taken));
  }
}
