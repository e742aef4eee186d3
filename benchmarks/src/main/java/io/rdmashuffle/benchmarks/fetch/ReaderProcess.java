package io.rdmashuffle.benchmarks.fetch;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/**
 * Fetches on command. Arguments: transport, the owner's endpoint, layout. Commands on standard
 * input, one answer line each:
 *
 * <ul>
 *   <li>{@code digest N}: fetches all blocks in requests of N and answers the sum of their CRC32Cs
 *   <li>{@code stream N PARALLEL BLOCKS}: fetches BLOCKS blocks in requests of N, PARALLEL requests
 *       at a time, and answers nanoseconds and how many blocks came by Netty although the transport
 *       is another
 *   <li>{@code latency COUNT}: fetches single blocks one after the other and answers the median and
 *       the 99th percentile in nanoseconds
 * </ul>
 *
 * <p>This and its simple name are what other commits rely on ({@link Harness}).
 */
public final class ReaderProcess {
  private static final long LIMIT_S = 120;

  private final FetchTransport transport;
  private final Layout layout;

  private ReaderProcess(FetchTransport transport, Layout layout) {
    this.transport = transport;
    this.layout = layout;
  }

  public static void main(String[] arguments) throws Exception {
    Layout layout = Layout.parse(arguments, 2);
    try (FetchTransport transport = FetchTransports.reader(arguments[0], layout, arguments[1]);
        BufferedReader input =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      ReaderProcess reader = new ReaderProcess(transport, layout);
      System.out.println("READY");
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        System.out.println(reader.execute(line.split(" ")));
      }
    }
    System.exit(0);
  }

  private String execute(String[] words) throws InterruptedException {
    int first = Integer.parseInt(words[1]);
    return switch (words[0]) {
      case "digest" -> digest(first);
      case "stream" -> stream(first, Integer.parseInt(words[2]), Integer.parseInt(words[3]));
      case "latency" -> latency(first);
      default -> throw new IllegalArgumentException("unknown command " + words[0]);
    };
  }

  private String digest(int perRequest) throws InterruptedException {
    return "DIGEST " + run(new Pass(0, layout.blocks(), perRequest, 1, true));
  }

  private String stream(int perRequest, int parallel, int blocks) throws InterruptedException {
    long byNetty = transport.byNetty();
    long begin = System.nanoTime();
    run(new Pass(0, blocks, perRequest, parallel, false));
    return "NANOS " + (System.nanoTime() - begin) + " " + (transport.byNetty() - byNetty);
  }

  private String latency(int count) throws InterruptedException {
    long[] nanos = new long[count];
    for (int i = 0; i < count; i++) {
      long begin = System.nanoTime();
      run(new Pass(i, 1, 1, 1, false));
      nanos[i] = System.nanoTime() - begin;
    }
    Arrays.sort(nanos);
    return "LATENCY " + nanos[count / 2] + " " + nanos[(int) (count * 0.99)];
  }

  /**
   * @param first number of the first block
   * @param blocks how many, over and over again if there are fewer
   */
  private record Pass(long first, long blocks, int perRequest, int parallel, boolean digest) {}

  /** Returns the sum of the digests. */
  private long run(Pass pass) throws InterruptedException {
    Semaphore slots = new Semaphore(pass.parallel());
    AtomicLong failures = new AtomicLong();
    LongAdder sum = new LongAdder();
    long end = pass.first() + pass.blocks();
    for (long at = pass.first(); at < end; at += pass.perRequest()) {
      await(slots, 1);
      int count = (int) Math.min(pass.perRequest(), end - at);
      AtomicInteger missing = new AtomicInteger(count);
      request(
          at,
          count,
          pass.digest(),
          digest -> {
            if (digest < 0) {
              failures.incrementAndGet();
            }
            sum.add(digest);
            if (missing.decrementAndGet() == 0) {
              slots.release();
            }
          });
    }
    await(slots, pass.parallel());
    if (failures.get() > 0) {
      throw new IllegalStateException(failures.get() + " blocks failed");
    }
    return sum.sum();
  }

  /** As a reduce wave does: one partition of every map, then the next partition. */
  private void request(long first, int count, boolean digest, LongConsumer onBlock) {
    int[] maps = new int[count];
    int[] partitions = new int[count];
    for (int i = 0; i < count; i++) {
      int block = (int) ((first + i) % layout.blocks());
      maps[i] = block % layout.maps();
      partitions[i] = block / layout.maps();
    }
    transport.fetch(maps, partitions, digest, onBlock);
  }

  private static void await(Semaphore slots, int permits) throws InterruptedException {
    if (!slots.tryAcquire(permits, LIMIT_S, TimeUnit.SECONDS)) {
      throw new IllegalStateException("a request did not end within " + LIMIT_S + " s");
    }
  }
}
