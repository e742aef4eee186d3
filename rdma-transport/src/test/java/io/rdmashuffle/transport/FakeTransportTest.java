package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.verbs.WcStatus;
import io.rdmashuffle.transport.wire.BlockKey;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Transports on the adapter in memory. */
final class FakeTransportTest extends TransportContract {
  private final FakeFabric fabric = FakeFabric.immediate();

  @BeforeEach
  void keysAndAddressesComeBackAtOnce() {
    fabric.reuseKeysAndAddresses();
  }

  @Override
  protected VerbsProvider provider() {
    return fabric.newProcess(Long.MAX_VALUE, 4096);
  }

  @Override
  protected InetAddress address() {
    return fabric.addAdapter();
  }

  @Override
  protected void assertNothingOpen() {
    fabric.assertNothingOpen();
  }

  /** Under fetches, which end at once; nobody dials or is let in any more. */
  @ParameterizedTest
  @EnumSource(names = {"DEVICE_REMOVED", "DEVICE_FATAL", "CQ_ERROR"})
  void anAdapterThatIsLostTakesTheTransportsOnItAlong(AsyncEvent.Type loss) throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(70_000, 300_000);
    reader.fetch(owner, keys).await().check(owner.outputs);
    CompletableFuture<String> lost = owner.transport.lost().toCompletableFuture();

    fabric.raise(owner.transport.listenAddress().getAddress(), new AsyncEvent(loss, 11));

    assertThat(lost.get(10, TimeUnit.SECONDS)).contains("is lost: " + loss + " (11)");
    assertThat(reader.fetch(owner, keys).await().checkWhatCame(owner.outputs).arrived()).isZero();
    assertThat(reader.transport.lost().toCompletableFuture()).isNotDone();
    owner.transport.close();
    assertThat(owner.transport.levels().values()).containsOnly(0L);
  }

  @Test
  void aReaderWhoseAdapterIsRemovedFallsBackAtOnce() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(new Random(9).ints(200, 1, 50_000).toArray());
    reader.fetch(owner, keys).await().check(owner.outputs);
    CompletableFuture<String> lost = reader.transport.lost().toCompletableFuture();
    List<Collected> running = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      running.add(reader.fetch(owner, keys));
    }

    fabric.raise(
        reader.transport.listenAddress().getAddress(),
        new AsyncEvent(AsyncEvent.Type.DEVICE_REMOVED, 11));

    lost.get(10, TimeUnit.SECONDS);
    for (Collected fetch : running) {
      fetch.await().checkWhatCame(owner.outputs);
    }
    assertThat(reader.fetch(owner, keys).await().arrived()).isZero();
    reader.transport.close();
    assertThat(reader.fetch(owner, keys).await().reasons()).containsOnly(FallbackReason.STOPPING);
  }

  @Test
  void ofManyBlocksOnlyTheOneWhoseReadIsRefusedFallsBack() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(new Random(9).ints(200, 20_000, 50_000).toArray());
    reader.fetch(owner, keys.subList(0, 3)).await().check(owner.outputs);
    fabric.faults().reads().fail(60, WcStatus.REM_ACCESS_ERR);

    Collected results = reader.fetch(owner, keys).await();

    assertThat(results.checkWhatCame(owner.outputs).arrived()).isEqualTo(199);
    reader.fetch(owner, keys).await().check(owner.outputs);
  }

  /** With too little memory. */
  @Nested
  final class Scarce extends ScarceMemoryContract {
    @Override
    protected VerbsProvider provider() {
      return FakeTransportTest.this.provider();
    }

    @Override
    protected InetAddress address() {
      return FakeTransportTest.this.address();
    }

    @Override
    protected void assertNothingOpen() {
      FakeTransportTest.this.assertNothingOpen();
    }

    @Override
    protected VerbsProvider provider(long memlockBytes) {
      return fabric.newProcess(memlockBytes, 4096);
    }
  }
}
