package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.server.ServerSettings;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.HostMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MemoryPlanTest {
  private static MemoryPlan plan(long memlockBytes, long boundBytes) {
    return plan(memlockBytes, boundBytes, Role.PEER);
  }

  private static MemoryPlan plan(long memlockBytes, long boundBytes, Role role) {
    HostMemory host = FakeFabric.immediate().newProcess(memlockBytes, 4096).hostMemory();
    return MemoryPlan.of(
        host, TransportSettings.defaults(new MemoryBudget.Bound(boundBytes, "test", "none")), role);
  }

  @Test
  void withEnoughMemoryThePoolIsAsTheSettingsSay() {
    ChunkPoolSettings pool = plan(Long.MAX_VALUE, 4L << 30).pool();

    ClientSettings settings = ClientSettings.defaults();
    assertThat(pool.chunkBytes()).isEqualTo(settings.chunkBytes());
    assertThat((long) pool.maxChunks() * pool.chunkBytes()).isEqualTo(settings.poolBytes());
    assertThat(pool.reserveChunks()).isEqualTo(31); // 12 percent of 256, rounded up
  }

  /** From less than a page to the limits of containers and of desktops. */
  @ParameterizedTest
  @ValueSource(longs = {1, 4096, 64 << 10, 1 << 20, 8 << 20, 64 << 20, 1L << 40, Long.MAX_VALUE})
  void anyLimitGivesAPoolWithAReserveThatFitsIntoHalfOfIt(long memlockBytes) {
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
  @ValueSource(longs = {1, 4096, 64 << 10, 1 << 20, 8 << 20, 64 << 20, 1L << 40, Long.MAX_VALUE})
  void whatIsGuaranteedForStagingHoldsAtLeastOneOfItsSlabs(long memlockBytes) {
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
  void windowsCannotTakeWhatReadersNeed() {
    MemoryBudget budget = plan(8 << 20, Long.MAX_VALUE).budget();
    long limit = budget.limitBytes();

    assertThat(budget.tryReserve(Use.WINDOWS, limit / 2)).isFalse();
    assertThat(budget.tryReserve(Use.WINDOWS, limit / 100 * 40)).isTrue();
    assertThat(budget.tryReserve(Use.READER_POOL, limit / 100 * 30)).isTrue();
    assertThat(budget.tryReserve(Use.MESSAGES, limit / 100 * 10)).isTrue();
  }

  @Test
  void anOwnerKeepsNothingForReading() {
    MemoryBudget budget = plan(8 << 20, Long.MAX_VALUE, Role.OWNER).budget();
    long limit = budget.limitBytes();

    assertThat(budget.tryReserve(Use.WINDOWS, limit / 100 * 65)).isTrue();
    assertThat(budget.tryReserve(Use.STAGING, limit / 100 * 25)).isTrue();
  }

  @Test
  void aReaderReadsIntoMostOfTheBudget() {
    MemoryPlan plan = plan(8 << 20, Long.MAX_VALUE, Role.READER);

    long poolBytes = (long) plan.pool().maxChunks() * plan.pool().chunkBytes();
    assertThat(poolBytes).isBetween(plan.budget().limitBytes() / 2, plan.budget().limitBytes());
    assertThat(plan.budget().tryReserve(Use.READER_POOL, poolBytes)).isTrue();
  }
}
