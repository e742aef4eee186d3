package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient.FetchListener;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;

/**
 * A process with an owner and a reader on {@code soft} whose heap is full again and again for some
 * seconds, while the reader fetches. Arguments: folder, seconds. Prints what came of it.
 */
final class ShortHeapProgram {
  private static final Duration LIMIT = Patience.seconds(20);
  private static final NanoClock CLOCK = NanoClock.system();
  private static final Peer OWNER = new Peer("owner", "host", 7337);

  /** Of one file each: inline, read in place, and more than the pool has room for. */
  private static final int[][] SIZES = {
    {100},
    {70_000, 200_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000, 150_000},
    {60_000, 60_000, 60_000, 60_000, 60_000, 90_000}
  };

  private static final int STAGED = 5;
  private static final int UNDER_WAY = 4;
  private static final int LEAST_FILLED = 10;

  private final Outputs outputs;
  private final List<BlockKey> keys = new ArrayList<>();
  private final List<Reports> underWay = new ArrayList<>(UNDER_WAY);
  private int refused;
  private int came;
  private int fellBack;
  private final byte[] step = new byte[16 << 10];
  private RdmaTransport owner;
  private RdmaTransport reader;

  private ShortHeapProgram(Path folder) throws IOException {
    outputs = new Outputs(Files.createDirectory(folder.resolve("outputs")));
    for (int[] sizes : SIZES) {
      keys.addAll(outputs.write(sizes));
    }
    for (int i = 0; i < STAGED; i++) {
      keys.add(outputs.write(6000, 6000, 6000).get(1)); // too little of it to register it
    }
  }

  public static void main(String[] arguments) throws Exception {
    ShortHeapProgram program = new ShortHeapProgram(Path.of(arguments[0]));
    try (DisniProvider soft = DisniProviders.soft()) {
      program.run(soft, Duration.ofSeconds(Integer.parseInt(arguments[1])));
      require(soft.openObjects() == 0, soft.openObjects() + " objects of the adapter are open");
    }
    System.out.println("nothing is left");
  }

  private void run(DisniProvider soft, Duration shortage) throws Exception {
    owner = open(soft, "owner");
    reader = open(soft, "reader");
    require(end(begin()) == keys.size(), "not all came by RDMA before");
    Hog hog = new Hog();
    Thread hogging = new Thread(hog, "hog");
    hogging.setDaemon(true);
    hogging.start();
    long endNs = CLOCK.nanoTime() + shortage.toNanos();
    while (CLOCK.nanoTime() - endNs < 0 || hog.filled.get() < LEAST_FILLED) {
      fetchSeveral();
    }
    hog.stop();
    hogging.join();
    System.out.printf(
        "full %d times: %d blocks came, %d fell back, %d fetches were not taken%n",
        hog.filled.get(), came, fellBack, refused);
    require(fellBack + refused > 0, "it was never short of memory");
    requireAllByRdma();
    reader.close();
    owner.close();
    requireZero(reader);
    requireZero(owner);
  }

  private void fetchSeveral() throws Exception {
    underWay.clear();
    for (int i = 0; i < UNDER_WAY; i++) {
      try {
        underWay.add(begin());
      } catch (OutOfMemoryError atTheCaller) {
        refused++;
      }
    }
    for (int i = 0; i < underWay.size(); i++) {
      int arrived = end(underWay.get(i));
      came += arrived;
      fellBack += keys.size() - arrived;
    }
  }

  private void requireAllByRdma() throws Exception {
    long endNs = CLOCK.nanoTime() + LIMIT.toNanos();
    int arrived = 0;
    while (arrived < keys.size() && CLOCK.nanoTime() - endNs < 0) {
      arrived = end(begin());
    }
    require(arrived == keys.size(), "only " + arrived + " came by RDMA afterwards");
  }

  private static void requireZero(RdmaTransport transport) {
    require(
        transport.levels().values().stream().allMatch(level -> level == 0),
        transport.levels().toString());
  }

  private static void require(boolean holds, String text) {
    if (!holds) {
      throw new IllegalStateException(text);
    }
  }

  private RdmaTransport open(DisniProvider soft, String id) throws Exception {
    return RdmaTransport.open(
        new Transport.Site(soft.lent(), InetAddress.getLoopbackAddress(), id, NanoClock.system()),
        new RdmaTransport.Engine(
            outputs, peer -> CompletableFuture.<Invitation>completedFuture(owner.issueTicket())),
        settings());
  }

  private static TransportSettings settings() {
    return TransportHarness.smallPool(
        LIMIT.dividedBy(4),
        Patience.transportDefaults(TransportHarness.ENOUGH).client().memoryTimeout(),
        Duration.ofMillis(20),
        Duration.ofMillis(100));
  }

  private Reports begin() {
    Reports reports = new Reports(keys.size());
    reader.client().fetch(OWNER, keys, reports);
    return reports;
  }

  /** Waits until every block is reported, and checks it. Returns how many came by RDMA. */
  private int end(Reports reports) throws Exception {
    require(reports.await(), "not all blocks were reported in time");
    int arrived = 0;
    for (int i = 0; i < keys.size(); i++) {
      require(reports.times.get(i) == 1, "a block was reported twice");
      if (reports.blocks[i] != null) {
        arrived++;
        require(hasBytesOf(reports.blocks[i], keys.get(i)), "wrong bytes");
        reports.blocks[i].close();
      }
    }
    return arrived;
  }

  private boolean hasBytesOf(Block block, BlockKey key) throws IOException {
    byte[] content = outputs.content(key);
    while (true) {
      try (InputStream in = block.stream()) {
        int at = 0;
        for (int n = in.read(step); n >= 0; n = in.read(step)) {
          if (!Arrays.equals(step, 0, n, content, at, at + n)) {
            return false;
          }
          at += n;
        }
        return at == content.length;
      } catch (OutOfMemoryError e) { // for the stream
        pause();
      }
    }
  }

  private static void pause() {
    LockSupport.parkNanos(1_000_000);
  }

  /** What one fetch brought. Nothing of it needs memory once it is made. */
  private static final class Reports implements FetchListener {
    private final AtomicIntegerArray times;
    private final Block[] blocks;
    private final CountDownLatch left;

    Reports(int count) {
      times = new AtomicIntegerArray(count);
      blocks = new Block[count];
      left = new CountDownLatch(count);
    }

    @Override
    public void onBlock(int index, Block block) {
      blocks[index] = block;
      report(index);
    }

    @Override
    public void onFallback(int[] indices, FallbackReason reason) {
      for (int index : indices) {
        report(index);
      }
    }

    private void report(int index) {
      times.incrementAndGet(index);
      left.countDown();
    }

    boolean await() throws InterruptedException {
      while (true) {
        try {
          return left.await(LIMIT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (OutOfMemoryError e) { // for waiting
          pause();
        }
      }
    }
  }

  /** Takes all of the heap for a moment, again and again. */
  private static final class Hog implements Runnable {
    private static final long HELD_NS = TimeUnit.MILLISECONDS.toNanos(20);

    private volatile boolean stopped;
    private final AtomicInteger filled = new AtomicInteger();

    void stop() {
      stopped = true;
    }

    @Override
    public void run() {
      while (!stopped) {
        fill();
        LockSupport.parkNanos(HELD_NS);
      }
    }

    private void fill() {
      Object[] taken = null;
      for (int length = 1 << 16; length > 0; ) {
        try {
          Object[] next = new Object[length];
          next[0] = taken;
          taken = next;
        } catch (OutOfMemoryError full) {
          length /= 8;
        }
      }
      filled.incrementAndGet();
      LockSupport.parkNanos(HELD_NS);
      if (taken[0] == this) {
        stopped = true; // never: keeps it reachable until here
      }
    }
  }
}
