package io.rdmashuffle.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.memory.MemoryBudget.Bound;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class MemoryBudgetTest {
  private static MemoryBudget budget(long bytes, Map<Use, Integer> guaranteed) {
    return MemoryBudget.of(List.of(new Bound(bytes, "test", "nothing")), guaranteed);
  }

  @Test
  void reservesUpToTheLimitAndNoFurther() {
    MemoryBudget budget = budget(100, Map.of());
    assertThat(budget.tryReserve(Use.WINDOWS, 60)).isTrue();
    assertThat(budget.tryReserve(Use.STAGING, 41)).isFalse();
    assertThat(budget.tryReserve(Use.STAGING, 40)).isTrue();
    assertThat(budget.tryReserve(Use.MESSAGES, 1)).isFalse();
    assertThat(budget.usedBytes(Use.WINDOWS)).isEqualTo(60);
    assertThat(budget.usedBytes()).isEqualTo(100);
    budget.release(Use.WINDOWS, 60);
    assertThat(budget.tryReserve(Use.MESSAGES, 60)).isTrue();
  }

  @Test
  void refusedReservationTakesNothing() {
    MemoryBudget budget = budget(100, Map.of(Use.READER_POOL, 50));
    assertThat(budget.tryReserve(Use.WINDOWS, 51)).isFalse();
    assertThat(budget.tryReserve(Use.READER_POOL, 101)).isFalse();
    assertThat(budget.usedBytes()).isZero();
    assertThat(budget.tryReserve(Use.WINDOWS, 50)).isTrue();
    assertThat(budget.tryReserve(Use.READER_POOL, 50)).isTrue();
  }

  @Test
  void othersLeaveAGuaranteedShareAlone() {
    MemoryBudget budget = budget(100, Map.of(Use.READER_POOL, 30, Use.MESSAGES, 10));
    assertThat(budget.tryReserve(Use.WINDOWS, 61)).isFalse();
    assertThat(budget.tryReserve(Use.WINDOWS, 60)).isTrue();
    assertThat(budget.tryReserve(Use.READER_POOL, 31)).isFalse();
    assertThat(budget.tryReserve(Use.READER_POOL, 30)).isTrue();
    budget.release(Use.WINDOWS, 20);
    assertThat(budget.tryReserve(Use.READER_POOL, 20)).isTrue();
    budget.release(Use.READER_POOL, 50);
    assertThat(budget.tryReserve(Use.WINDOWS, 21)).isFalse();
    assertThat(budget.tryReserve(Use.WINDOWS, 20)).isTrue();
  }

  @Test
  void overReleaseThrowsAndChangesNothing() {
    MemoryBudget budget = budget(100, Map.of());
    budget.tryReserve(Use.WINDOWS, 10);
    budget.tryReserve(Use.STAGING, 10);
    assertThatThrownBy(() -> budget.release(Use.WINDOWS, 11))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("release of 11 bytes of WINDOWS, which has reserved 10");
    assertThat(budget.usedBytes()).isEqualTo(20);
  }

  @Test
  void hugeReservationsDoNotOverflow() {
    MemoryBudget unlimited = budget(Long.MAX_VALUE, Map.of(Use.MESSAGES, 100));
    assertThat(unlimited.tryReserve(Use.MESSAGES, Long.MAX_VALUE)).isTrue();
    assertThat(unlimited.tryReserve(Use.MESSAGES, Long.MAX_VALUE)).isFalse();
    MemoryBudget small = budget(10, Map.of());
    small.tryReserve(Use.MESSAGES, 5);
    assertThat(small.tryReserve(Use.MESSAGES, Long.MAX_VALUE)).isFalse();
    assertThat(small.tryReserve(Use.WINDOWS, Long.MAX_VALUE)).isFalse();
  }

  @Test
  void nonsenseIsRefused() {
    assertThatThrownBy(() -> budget(10, Map.of(Use.WINDOWS, 60, Use.STAGING, 41)))
        .hasMessageContaining("percent");
    assertThatThrownBy(() -> budget(10, Map.of()).tryReserve(Use.WINDOWS, 0))
        .hasMessageContaining("0 bytes");
    assertThatThrownBy(() -> MemoryBudget.of(List.of(), Map.of())).hasMessageContaining("bound");
    assertThatThrownBy(() -> new Bound(-1, "setting", "")).hasMessageContaining("setting");
  }

  @Test
  void theSmallestBoundCountsAndIsNamedWithItsRemedy() {
    MemoryBudget budget =
        MemoryBudget.of(
            List.of(
                new Bound(512L << 20, "half of the memory overhead", "raise the overhead"),
                Bound.memlock(8L << 20)),
            Map.of());
    assertThat(budget.limitBytes()).isEqualTo(7L << 20);
    assertThat(budget.describe(300L << 20))
        .isEqualTo(
            "registered memory: up to 300 MiB wanted, limit 7 MiB (memlock limit of 8 MiB, less an"
                + " eighth for queues); raise it with ulimit -l, LimitMEMLOCK= of the service, or"
                + " --ulimit memlock of the container");
    assertThat(budget.describe(1L << 20)).doesNotContain("ulimit");
    assertThat(budget.refusal(Use.WINDOWS, 9L << 20))
        .startsWith("no room for 9 MiB of WINDOWS: 0 bytes registered of 7 MiB (memlock");
  }

  @Test
  void unlimitedMemlockIsNoBound() {
    MemoryBudget budget =
        MemoryBudget.of(
            List.of(Bound.memlock(Long.MAX_VALUE), new Bound(1000, "setting", "")), Map.of());
    assertThat(budget.limitBytes()).isEqualTo(1000);
    assertThat(Bound.memlock(Long.MAX_VALUE).bytes()).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void threadsNeverExceedTheLimitTogether() throws Exception {
    long seed = 20240607;
    MemoryBudget budget = budget(1000, Map.of(Use.READER_POOL, 20));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Void>> jobs = new ArrayList<>();
      for (Use use : Use.values()) {
        jobs.add(() -> reserveAndRelease(budget, use, new Random(seed + use.ordinal())));
      }
      for (Future<Void> done : threads.invokeAll(jobs)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(budget.usedBytes()).isZero();
    assertThat(budget.tryReserve(Use.WINDOWS, 800)).as("seed %d", seed).isTrue();
    assertThat(budget.tryReserve(Use.READER_POOL, 200)).isTrue();
  }

  private static Void reserveAndRelease(MemoryBudget budget, Use use, Random random) {
    List<Long> held = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      long bytes = 1L + random.nextInt(200);
      if (budget.tryReserve(use, bytes)) {
        held.add(bytes);
        assertThat(budget.usedBytes(use)).isLessThanOrEqualTo(1000);
        assertThat(budget.usedBytes(use)).isEqualTo(held.stream().mapToLong(b -> b).sum());
      } else if (!held.isEmpty()) {
        budget.release(use, held.remove(random.nextInt(held.size())));
      }
    }
    held.forEach(bytes -> budget.release(use, bytes));
    return null;
  }
}
