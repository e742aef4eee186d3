package io.rdmashuffle.transport.memory;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.verbs.Access;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** One thread takes, others check and return, a third kind grows and shrinks. */
class ChunkPoolStressTest {
  private static final long SEED = 4711;
  private static final int ROUNDS = 50_000;
  private static final int CHUNK = 64;

  private record Marked(Chunk chunk, int mark) {}

  @Test
  void noChunkHasTwoHoldersAndNoneIsLost() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (FakeHost host = new FakeHost(1 << 20);
        ChunkPool pool =
            new ChunkPool(
                host.source(Use.READER_POOL, Access.LOCAL_WRITE),
                new ChunkPoolSettings(CHUNK, 8, 32, 4),
                work -> threads.execute(work::perform),
                NanoClock.system())) {
      BlockingQueue<Marked> inFlight = new LinkedBlockingQueue<>();
      List<Future<?>> jobs = new ArrayList<>();
      jobs.add(threads.submit(() -> take(pool, inFlight)));
      jobs.add(threads.submit(() -> giveBack(inFlight)));
      jobs.add(threads.submit(() -> giveBack(inFlight)));
      for (Future<?> job : jobs) {
        job.get(50, TimeUnit.SECONDS);
      }
      assertThat(pool.chunksOut()).as("seed %d", SEED).isZero();
      threads.shutdown();
      assertThat(threads.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
      assertThat(pool.free() * (long) CHUNK).isEqualTo(pool.registeredBytes());
    } finally {
      threads.shutdownNow();
    }
  }

  private static Void take(ChunkPool pool, BlockingQueue<Marked> inFlight) {
    Random random = new Random(SEED);
    for (int taken = 0; taken < ROUNDS; ) {
      boolean reserved = random.nextInt(4) == 0;
      Chunk chunk = reserved ? pool.tryTakeReserved() : pool.tryTake();
      if (chunk == null) {
        Thread.onSpinWait();
        continue;
      }
      taken++;
      chunk.view(0, CHUNK).putInt(0, taken).putInt(CHUNK - 4, taken);
      inFlight.add(new Marked(chunk, taken));
      if (random.nextInt(1000) == 0) {
        pool.shrink();
      }
    }
    inFlight.add(new Marked(null, 0));
    inFlight.add(new Marked(null, 0));
    return null;
  }

  private static Void giveBack(BlockingQueue<Marked> inFlight) throws Exception {
    for (Marked next = inFlight.take(); next.chunk != null; next = inFlight.take()) {
      assertThat(next.chunk.view(0, 4).getInt(0)).isEqualTo(next.mark);
      assertThat(next.chunk.view(CHUNK - 4, 4).getInt(0)).isEqualTo(next.mark);
      next.chunk.close();
    }
    return null;
  }
}
