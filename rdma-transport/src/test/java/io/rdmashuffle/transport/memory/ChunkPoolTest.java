package io.rdmashuffle.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.testing.ManualClock;
import io.rdmashuffle.transport.testing.fake.Errno;
import io.rdmashuffle.transport.testing.fake.Resource;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.MemoryRegion;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ChunkPoolTest {
  private static final int CHUNK = 1000;
  private final ManualClock clock = new ManualClock();
  private final Deque<Work> slowPool = new ArrayDeque<>();
  private FakeHost host;
  private int wakeUps;

  @BeforeEach
  void open() throws Exception {
    host = new FakeHost(1 << 20);
  }

  @AfterEach
  void nothingIsLeft() {
    host.close();
  }

  private ChunkPool pool(int chunksPerSlab, int maxChunks, int reserve) {
    ChunkPool pool =
        new ChunkPool(
            host.source(Use.READER_POOL, Access.LOCAL_WRITE),
            new ChunkPoolSettings(CHUNK, chunksPerSlab, maxChunks, reserve),
            slowPool::add,
            clock);
    pool.onAvailable(() -> wakeUps++);
    return pool;
  }

  private void runSlowPool() {
    while (!slowPool.isEmpty()) {
      assertThat(slowPool.poll().perform()).isNull();
    }
  }

  private static void close(List<Chunk> chunks) {
    chunks.forEach(Chunk::close);
    chunks.clear();
  }

  @Test
  void takingNeverRegistersButMakesThePoolGrowBehindTheScenes() {
    try (ChunkPool pool = pool(4, 8, 0)) {
      assertThat(pool.tryTake()).isNull();
      assertThat(pool.tryTake()).isNull();
      assertThat(host.fabric.openCount(Resource.REGION)).isZero();
      assertThat(slowPool).hasSize(1);
      assertThat(pool.available()).isEqualTo(8);

      runSlowPool();

      assertThat(wakeUps).isOne();
      assertThat(pool.free()).isEqualTo(4);
      assertThat(pool.registeredBytes()).isEqualTo(4 * CHUNK);
      Chunk chunk = pool.tryTake();
      assertThat(chunk.bytes()).isEqualTo(CHUNK);
      assertThat(pool.chunksOut()).isOne();
      assertThat(pool.available()).isEqualTo(7);
      chunk.close();
    }
  }

  @Test
  void aLowerLimitTakesBackWhatIsFreeAndTheRestAsItReturns() {
    try (ChunkPool pool = pool(4, 16, 0)) {
      List<Chunk> chunks = takeAll(pool);
      assertThat(chunks).hasSize(16);
      close(chunks.subList(8, 16));

      pool.limitTo(4);
      runSlowPool();
      assertThat(pool.registeredBytes()).as("two slabs are in use").isEqualTo(8 * CHUNK);
      assertThat(pool.mostBytes()).isEqualTo(4 * CHUNK);

      close(chunks);
      pool.giveBackExcess();
      runSlowPool();
      assertThat(pool.registeredBytes()).isEqualTo(4 * CHUNK);
      assertThat(takeAll(pool)).hasSize(4).allSatisfy(Chunk::close);

      pool.limitTo(0);
      runSlowPool();
      assertThat(pool.registeredBytes()).isZero();
      assertThat(pool.tryTake()).isNull();
      runSlowPool();
      assertThat(pool.registeredBytes()).isZero();

      pool.limitTo(1000);
      assertThat(pool.mostChunks()).as("as the settings say").isEqualTo(16);
    }
  }

  @Test
  void noMoreAreTakenThanALowerLimitAllowsThoughMoreAreRegistered() {
    try (ChunkPool pool = pool(4, 8, 0)) {
      List<Chunk> chunks = takeAll(pool);
      pool.limitTo(2);
      chunks.remove(7).close();
      assertThat(pool.tryTake()).isNull();
      close(chunks);
    }
  }

  @Test
  void chunksDoNotOverlapAndAreWritable() {
    try (ChunkPool pool = pool(4, 8, 0)) {
      List<Chunk> chunks = takeAll(pool);
      assertThat(chunks).hasSize(8);
      Set<Long> addresses = new HashSet<>();
      for (int i = 0; i < chunks.size(); i++) {
        addresses.add(chunks.get(i).address());
        ByteBuffer view = chunks.get(i).view(0, CHUNK);
        for (int at = 0; at < CHUNK; at++) {
          view.put(at, (byte) i);
        }
      }
      assertThat(addresses).hasSize(8);
      for (int i = 0; i < chunks.size(); i++) {
        assertThat(chunks.get(i).view(CHUNK - 1, 1).get(0)).isEqualTo((byte) i);
        assertThat(chunks.get(i).view(0, 1).get(0)).isEqualTo((byte) i);
      }
      close(chunks);
    }
  }

  @Test
  void aViewMayReachIntoTheChunksThatFollow() {
    try (ChunkPool pool = pool(2, 4, 0)) {
      List<Chunk> chunks = takeAll(pool);
      assertThat(chunks.get(0).isFollowedBy(chunks.get(1))).isTrue();
      assertThat(chunks.get(1).isFollowedBy(chunks.get(0))).isFalse();
      assertThat(chunks.get(1).isFollowedBy(chunks.get(2))).isFalse(); // another slab

      chunks.get(0).view(chunks.get(1), CHUNK - 1, 2).put((byte) 1).put((byte) 2);

      assertThat(chunks.get(0).view(CHUNK - 1, 1).get()).isEqualTo((byte) 1);
      assertThat(chunks.get(1).view(0, 1).get()).isEqualTo((byte) 2);
      assertThatThrownBy(() -> chunks.get(0).view(chunks.get(1), 1, 2 * CHUNK))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> chunks.get(0).view(chunks.get(2), 0, 1))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> chunks.get(1).view(chunks.get(0), 0, 1))
          .isInstanceOf(IllegalArgumentException.class);
      close(chunks);
    }
  }

  private List<Chunk> takeAll(ChunkPool pool) {
    List<Chunk> chunks = new ArrayList<>();
    for (int misses = 0; misses < 2; ) {
      Chunk chunk = pool.tryTake();
      if (chunk == null) {
        misses++;
        runSlowPool();
      } else {
        misses = 0;
        chunks.add(chunk);
      }
    }
    return chunks;
  }

  @Test
  void neverGrowsBeyondItsLimitAndTheLastSlabIsCut() {
    try (ChunkPool pool = pool(4, 6, 0)) {
      List<Chunk> chunks = takeAll(pool);
      assertThat(chunks).hasSize(6);
      assertThat(slowPool).isEmpty();
      assertThat(pool.available()).isZero();
      assertThat(pool.registeredBytes()).isEqualTo(6 * CHUNK);
      close(chunks);
    }
  }

  @Test
  void reserveIsKeptForItsOwnUsers() {
    try (ChunkPool pool = pool(2, 6, 3)) {
      List<Chunk> ordinary = takeAll(pool);
      assertThat(ordinary).hasSize(3);
      assertThat(pool.free()).isEqualTo(3);
      List<Chunk> transit = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        transit.add(pool.tryTakeReserved());
      }
      assertThat(transit).doesNotContainNull();
      assertThat(pool.tryTakeReserved()).isNull();
      transit.remove(0).close();
      assertThat(pool.tryTake()).isNull();
      assertThat(pool.available()).isZero();
      transit.add(pool.tryTakeReserved());
      assertThat(transit).doesNotContainNull();
      close(ordinary);
      close(transit);
    }
  }

  @Test
  void reserveIsRegisteredBeforeOrdinaryUsersGetAnything() {
    host.fabric.faults().refuseRegistration(2, Errno.ENOMEM);
    host.fabric.faults().refuseRegistration(3, Errno.ENOMEM);
    try (ChunkPool pool = pool(2, 6, 2)) {
      assertThat(takeAll(pool)).isEmpty();
      assertThat(pool.available()).as("while growth pauses").isZero();
      Chunk transit = pool.tryTakeReserved();
      assertThat(transit).isNotNull();
      transit.close();
    }
  }

  @Test
  void failedGrowthPausesAndThenTriesAgain() {
    host.fabric.faults().refuseRegistrations(2, Errno.ENOMEM);
    try (ChunkPool pool = pool(2, 2, 0)) {
      assertThat(pool.tryTake()).isNull();
      runSlowPool();
      assertThat(pool.tryTake()).isNull();
      assertThat(slowPool).isEmpty();
      assertThat(host.budget.usedBytes()).isZero();
      clock.advanceNs(1_000_000_000);
      assertThat(pool.tryTake()).isNull();
      runSlowPool();
      Chunk chunk = pool.tryTake();
      assertThat(chunk).isNotNull();
      chunk.close();
    }
  }

  /** As under a limit of an rdma cgroup, or where something else has pinned most of the memory. */
  @Test
  void underALimitThatIsLowerThanTheOneKnownSmallerSlabsAreTaken() throws Exception {
    VerbsProvider limited = host.fabric.newProcess(5 * 4096 + 100, 4096);
    try (Device device = limited.open(host.fabric.addAdapter());
        ProtectionDomain domain = device.allocateProtectionDomain();
        ChunkPool pool =
            new ChunkPool(
                new MemorySource(
                    limited.hostMemory(), domain, host.budget, Use.READER_POOL, Access.LOCAL_WRITE),
                new ChunkPoolSettings(4096, 16, 64, 2),
                slowPool::add,
                clock)) {
      pool.warmUp();
      runSlowPool();
      List<Chunk> chunks = takeAll(pool);

      assertThat(chunks).as("all but the reserve").hasSize(3);
      assertThat(pool.registeredBytes()).isEqualTo(5 * 4096);
      assertThat(host.budget.usedBytes()).as("of refused slabs nothing").isEqualTo(5 * 4096);
      close(chunks);
    }
    limited.close();
  }

  @Test
  void growsAtOnceWhereRoomWasMadeThoughItFailedAMomentAgo() {
    host.fabric.faults().refuseRegistrations(2, Errno.ENOMEM);
    try (ChunkPool pool = pool(2, 2, 0)) {
      assertThat(pool.tryTake()).isNull();
      runSlowPool();
      pool.growNow();
      Chunk chunk = pool.tryTake();
      assertThat(chunk).isNotNull();
      pool.growNow();
      assertThat(pool.registeredBytes()).as("its limit").isEqualTo(2L * CHUNK);
      chunk.close();
    }
  }

  @Test
  void closedSlowPoolIsAFailedGrowth() {
    try (ChunkPool pool =
        new ChunkPool(
            host.source(Use.STAGING, Access.REMOTE_READ),
            new ChunkPoolSettings(CHUNK, 2, 2, 0),
            job -> {
              job.abandon(new RejectedExecutionException("closed"));
            },
            clock)) {
      assertThat(pool.tryTake()).isNull();
      assertThat(pool.available()).isZero();
      pool.shrink();
    }
  }

  @Test
  void returnWakesOnlyWhoWentAwayEmpty() {
    try (ChunkPool pool = pool(2, 2, 0)) {
      List<Chunk> chunks = takeAll(pool);
      wakeUps = 0;
      assertThat(pool.tryTake()).isNull();
      chunks.remove(0).close();
      chunks.remove(0).close();
      assertThat(wakeUps).isOne();
      pool.tryTake().close();
      assertThat(wakeUps).isOne();
    }
  }

  @Test
  void warmUpRegistersOneSlabAhead() {
    try (ChunkPool pool = pool(2, 4, 0)) {
      pool.warmUp();
      runSlowPool();
      pool.warmUp();
      assertThat(slowPool).isEmpty();
      pool.tryTake().close();
    }
  }

  @Test
  void closingAChunkTwiceThrowsAndHarmsNobody() {
    try (ChunkPool pool = pool(2, 2, 0)) {
      pool.warmUp();
      runSlowPool();
      Chunk first = pool.tryTake();
      first.close();
      Chunk second = pool.tryTake();
      assertThat(second.address()).isEqualTo(first.address());
      assertThatThrownBy(first::close).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> first.view(0, 1)).isInstanceOf(IllegalStateException.class);
      Chunk third = pool.tryTake();
      assertThat(third.address()).isNotEqualTo(second.address());
      close(new ArrayList<>(List.of(second, third)));
    }
  }

  @Test
  void viewsStayInsideTheirChunk() {
    try (ChunkPool pool = pool(2, 2, 0)) {
      pool.warmUp();
      runSlowPool();
      try (Chunk chunk = pool.tryTake()) {
        assertThat(chunk.view(CHUNK, 0).remaining()).isZero();
        assertThatThrownBy(() -> chunk.view(1, CHUNK))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> chunk.view(-1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
  }

  @Test
  void shrinkGivesBackIdleSlabsButKeepsTheReserveAndWhatIsOut() {
    try (ChunkPool pool = pool(2, 8, 2)) {
      List<Chunk> chunks = takeAll(pool);
      Chunk kept = chunks.remove(0);
      close(chunks);
      pool.shrink();
      runSlowPool();
      assertThat(pool.registeredBytes()).isEqualTo(4 * CHUNK);
      assertThat(host.fabric.openCount(Resource.REGION)).isEqualTo(2);
      assertThat(pool.tryTakeReserved()).isNotNull().satisfies(Chunk::close);
      kept.close();
      pool.shrink();
      runSlowPool();
      assertThat(pool.registeredBytes()).isEqualTo(2 * CHUNK);
      List<Chunk> again = takeAll(pool);
      assertThat(again).hasSize(6);
      close(again);
    }
  }

  @Test
  void closeDeregistersAtOnceButUnmapsWithTheLastChunk() {
    ChunkPool pool = pool(2, 4, 0);
    List<Chunk> chunks = takeAll(pool);
    chunks.remove(3).close();
    chunks.remove(2).close();
    ByteBuffer view = chunks.get(0).view(0, 1).put(0, (byte) 7);

    pool.close();

    assertThat(host.fabric.openCount(Resource.REGION)).isZero();
    assertThat(host.fabric.openCount(Resource.MAPPING)).isOne();
    assertThat(pool.chunksOut()).isEqualTo(2);
    assertThat(view.get(0)).isEqualTo((byte) 7);
    assertThat(pool.tryTake()).isNull();
    assertThat(pool.tryTakeReserved()).isNull();
    chunks.remove(0).close();
    assertThat(host.fabric.openCount(Resource.MAPPING)).isOne();
    chunks.remove(0).close();
    assertThat(host.fabric.openCount(Resource.MAPPING)).isZero();
    pool.close();
  }

  @Test
  void growthThatEndsAfterCloseLeavesNothing() {
    ChunkPool pool = pool(2, 4, 0);
    assertThat(pool.tryTake()).isNull();
    pool.close();
    runSlowPool();
    assertThat(host.fabric.openCount(Resource.MAPPING)).isZero();
  }

  @Test
  void settingsSayWhatIsWrongWithThem() {
    assertThatThrownBy(() -> new ChunkPoolSettings(1, 65, 1, 0)).hasMessage("chunksPerSlab of 65");
    assertThatThrownBy(() -> new ChunkPoolSettings(1, 1, 2, 2)).hasMessage("reserveChunks of 2");
    assertThatThrownBy(() -> new ChunkPoolSettings(1 << 26, 64, 64, 0))
        .hasMessage("bytes of a slab of 4294967296");
    assertThat(ChunkPoolSettings.ofBytes(256L << 20, 1 << 20, 12))
        .isEqualTo(new ChunkPoolSettings(1 << 20, 16, 256, 31));
    assertThat(ChunkPoolSettings.ofBytes(100_000, 8192, 0))
        .isEqualTo(new ChunkPoolSettings(8192, 12, 12, 0));
    assertThatThrownBy(() -> ChunkPoolSettings.ofBytes(100, 8192, 0))
        .hasMessage("chunks of a pool of 0");
  }

  /** A lost adapter answers EIO when it is to let go of a region. */
  @Test
  void memoryThatTheAdapterKeepsStaysMappedAndTheRestGoes() throws Exception {
    FakeHost lossy = new FakeHost(1 << 20); // never closed: something is left of it
    AtomicInteger regions = new AtomicInteger();
    ProtectionDomain keepsTheFirst = keeping(lossy.domain, () -> regions.incrementAndGet() == 1);
    ChunkPool pool =
        new ChunkPool(
            new MemorySource(
                lossy.memory, keepsTheFirst, lossy.budget, Use.READER_POOL, Access.LOCAL_WRITE),
            new ChunkPoolSettings(CHUNK, 4, 12, 0),
            slowPool::add,
            clock);
    List<Chunk> chunks = takeAll(pool);
    assertThat(chunks).hasSize(12);
    Chunk late = chunks.remove(0);
    close(chunks);

    assertThatThrownBy(pool::close).hasMessageContaining("EIO");
    assertThat(lossy.fabric.openCount(Resource.REGION)).as("the other slabs' are gone").isOne();
    late.close(); // whoever holds it to the end is not told
    pool.close();

    assertThat(lossy.fabric.openCount(Resource.REGION)).isOne();
    assertThat(lossy.fabric.openCount(Resource.MAPPING)).isOne();
    assertThat(lossy.budget.usedBytes()).as("not given to others").isEqualTo(4096);
  }

  private static ProtectionDomain keeping(ProtectionDomain domain, BooleanSupplier keeps) {
    return new ProtectionDomain() {
      @Override
      public MemoryRegion register(long address, long bytes, Access access) throws VerbsException {
        MemoryRegion region = domain.register(address, bytes, access);
        return keeps.getAsBoolean() ? new KeptRegion(address, bytes, region.lkey()) : region;
      }

      @Override
      public void close() {
        domain.close();
      }
    };
  }

  private record KeptRegion(long address, long bytes, int lkey) implements MemoryRegion {
    @Override
    public int rkey() {
      return lkey;
    }

    @Override
    public void close() {
      throw new IllegalStateException("ibv_dereg_mr: EIO (5)");
    }
  }
}
