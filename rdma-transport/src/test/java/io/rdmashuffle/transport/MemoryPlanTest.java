package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.memory.ByteText;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.server.ServerSettings;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.HostMemory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class MemoryPlanTest {
  private static MemoryPlan plan(long memlockBytes, long boundBytes) throws TransportException {
    return plan(memlockBytes, boundBytes, Role.PEER);
  }

  private static MemoryPlan plan(long memlockBytes, long boundBytes, Role role)
      throws TransportException {
    HostMemory host = FakeFabric.immediate().newProcess(memlockBytes, 4096).hostMemory();
    return MemoryPlan.of(
        host,
        TransportSettings.defaults(new MemoryBudget.Bound(boundBytes, "the.setting", "raise it")),
        role);
  }

  @Test
  void withEnoughMemoryThePoolIsAsTheSettingsSay() throws Exception {
    ChunkPoolSettings pool = plan(Long.MAX_VALUE, 4L << 30).pool();

    ClientSettings settings = ClientSettings.defaults();
    assertThat(pool.chunkBytes()).isEqualTo(settings.chunkBytes());
    assertThat((long) pool.maxChunks() * pool.chunkBytes()).isEqualTo(settings.poolBytes());
    assertThat(pool.reserveChunks()).isEqualTo(31); // 12 percent of 256, rounded up
  }

  /** From little more than a connection takes to the limits of containers and of desktops. */
  @ParameterizedTest
  @ValueSource(longs = {600 << 10, 1 << 20, 8 << 20, 64 << 20, 1L << 40, Long.MAX_VALUE})
  void anyLimitGivesAPoolWithAReserveThatFitsIntoHalfOfIt(long memlockBytes) throws Exception {
    MemoryPlan plan = plan(memlockBytes, Long.MAX_VALUE);

    ChunkPoolSettings pool = plan.pool();
    long poolBytes = (long) pool.maxChunks() * pool.chunkBytes();
    if (memlockBytes >= 1 << 20) {
      assertThat(poolBytes).isLessThanOrEqualTo(plan.budget().limitBytes() / 2);
      assertThat(pool.maxChunks()).isGreaterThanOrEqualTo(16);
      assertThat(pool.reserveChunks()).isPositive();
      assertThat(pool.chunksPerSlab()).as("a part can be had").isLessThan(pool.maxChunks());
    }
    assertThat(pool.reserveChunks()).isLessThan(pool.maxChunks());
  }

  @ParameterizedTest
  @ValueSource(longs = {600 << 10, 1 << 20, 8 << 20, 64 << 20, 1L << 40, Long.MAX_VALUE})
  void whatIsGuaranteedForStagingHoldsAtLeastOneOfItsSlabs(long memlockBytes) throws Exception {
    MemoryPlan plan = plan(memlockBytes, Long.MAX_VALUE);

    ChunkPoolSettings staging = plan.staging();
    long slabBytes = (long) staging.chunksPerSlab() * staging.chunkBytes();
    if (memlockBytes >= 1 << 20) {
      assertThat(slabBytes).isLessThanOrEqualTo(plan.budget().limitBytes() / 100 * 15);
      assertThat(staging.maxChunks()).isGreaterThanOrEqualTo(8);
    }
    assertThat((long) staging.maxChunks() * staging.chunkBytes())
        .isLessThanOrEqualTo(ServerSettings.defaults().stagingBytes());
  }

  @Test
  void windowsCannotTakeWhatReadersNeed() throws Exception {
    MemoryBudget budget = plan(8 << 20, Long.MAX_VALUE).budget();
    long limit = budget.limitBytes();

    assertThat(budget.tryReserve(Use.WINDOWS, limit / 2)).isFalse();
    assertThat(budget.tryReserve(Use.WINDOWS, limit / 100 * 40)).isTrue();
    assertThat(budget.tryReserve(Use.READER_POOL, limit / 100 * 30)).isTrue();
    assertThat(budget.tryReserve(Use.MESSAGES, limit / 100 * 10)).isTrue();
  }

  @Test
  void anOwnerKeepsNothingForReading() throws Exception {
    MemoryBudget budget = plan(8 << 20, Long.MAX_VALUE, Role.OWNER).budget();
    long limit = budget.limitBytes();

    assertThat(budget.tryReserve(Use.WINDOWS, limit / 100 * 65)).isTrue();
    assertThat(budget.tryReserve(Use.STAGING, limit / 100 * 25)).isTrue();
  }

  @Test
  void aReaderReadsIntoMostOfTheBudget() throws Exception {
    MemoryPlan plan = plan(8 << 20, Long.MAX_VALUE, Role.READER);

    long poolBytes = (long) plan.pool().maxChunks() * plan.pool().chunkBytes();
    assertThat(poolBytes).isBetween(plan.budget().limitBytes() / 2, plan.budget().limitBytes());
    assertThat(plan.budget().tryReserve(Use.READER_POOL, poolBytes)).isTrue();
  }

  /** One page, the usual limit of 64 KiB, and the last one below what each role needs. */
  @ParameterizedTest
  @CsvSource({
    "PEER, 1", "PEER, 4096", "PEER, 65536", "PEER, 578000",
    "OWNER, 65536", "OWNER, 423000", "READER, 65536", "READER, 790000"
  })
  void whatHoldsNoConnectionIsRefusedWithTheLimitAndTheRemedy(Role role, long memlockBytes) {
    assertThatThrownBy(() -> plan(memlockBytes, Long.MAX_VALUE, role))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFIG))
        .hasMessageContaining("memlock limit of " + ByteText.of(memlockBytes))
        .hasMessageContaining("take 272 KiB")
        .hasMessageContaining("raise it with ulimit -l");
  }

  @ParameterizedTest
  @CsvSource({"PEER, 64", "OWNER, 300", "READER, 600"})
  void aSettingThatHoldsNoConnectionIsNamed(Role role, long kibibytes) {
    assertThatThrownBy(() -> plan(Long.MAX_VALUE, kibibytes << 10, role))
        .hasMessageContaining("of " + kibibytes + " KiB (the.setting)")
        .hasMessageEndingWith("; raise it");
  }

  /** Else its first connection may fail for memory that blocks took before. */
  @ParameterizedTest
  @CsvSource({"PEER, 579000", "OWNER, 425000", "READER, 800000"})
  void whateverBlocksTakeThereIsRoomForOneConnection(Role role, long memlockBytes)
      throws Exception {
    MemoryBudget budget = plan(memlockBytes, Long.MAX_VALUE, role).budget();
    for (Use use : List.of(Use.WINDOWS, Use.STAGING, Use.READER_POOL)) {
      while (budget.tryReserve(use, 4096)) {
        assertThat(budget.usedBytes(use)).isPositive();
      }
    }

    assertThat(budget.tryReserve(Use.MESSAGES, 272 << 10)).isTrue();
  }
}
