package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.memory.ChunkPool;
import io.rdmashuffle.transport.memory.ChunkPool.Chunk;
import io.rdmashuffle.transport.memory.ChunkPoolSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registered memory of one domain for copies of blocks. A request gets all it needs or waits;
 * sessions take turns, and only the one whose turn it is holds memory while it waits for more, so
 * that no two can wait for each other.
 *
 * <p>Progress thread only.
 */
final class Staging {
  private static final Logger LOG = LoggerFactory.getLogger(Staging.class);
  private static final int SHARE_TO_WAIT = 4; // of a LOCATE's time, the rest is for reading
  private static final long CHECK_NS = Duration.ofMillis(20).toNanos();
  private static final long REPORT_EVERY_NS = Duration.ofMinutes(1).toNanos();

  private final ServerParts parts;
  private final WindowCache windows;
  private final SlowLanes.Lane housekeeping;
  private final ChunkPool pool;
  private final Map<Object, Deque<Ticket>> waiting = new HashMap<>();
  private final Deque<Object> turns = new ArrayDeque<>();
  private Ticket current;
  private ProgressLoop.Timer check;
  private int memoriesOut;
  private long nextReportNs;
  private Runnable whenClosed;

  Staging(ServerParts parts, ProtectionDomain domain, WindowCache windows) {
    this.parts = parts;
    this.windows = windows;
    this.nextReportNs = parts.loop().nowNs();
    this.housekeeping = parts.lanes().newLane(Integer.MAX_VALUE);
    ChunkPoolSettings shape = parts.staging();
    MemorySource source =
        new MemorySource(
            parts.hostMemory(),
            domain,
            parts.budget(),
            MemoryBudget.Use.STAGING,
            Access.REMOTE_READ);
    this.pool = new ChunkPool(source, shape, parts.slowPool(), parts.loop()::nowNs);
    pool.onAvailable(new Signal(parts.loop(), this::pump)::raise);
  }

  /** Hears of memory, exactly one of both unless the ticket is cancelled, perhaps at once. */
  interface Taker {
    void onMemory(StagedMemory memory);

    void onRefused();
  }

  /** A request for memory. */
  final class Ticket {
    private final int chunksNeeded;
    private final Taker taker;
    private final long sinceNs;
    private final List<Chunk> taken;
    private boolean over;

    private Ticket(int chunksNeeded, Taker taker, long sinceNs) {
      this.chunksNeeded = chunksNeeded;
      this.taker = taker;
      this.sinceNs = sinceNs;
      this.taken = new ArrayList<>(chunksNeeded);
    }

    /** Idempotent; also after it was served, which it does not change. */
    void cancel() {
      if (!over) {
        end();
        pump();
      }
    }

    private void end() {
      over = true;
      taken.forEach(Chunk::close);
      taken.clear();
    }
  }

  /**
   * An empty layout for the blocks of one request: for half of what there is, or will be at once.
   */
  StagingLayout newLayout() {
    long bytes = Math.max(pool.registeredBytes(), pool.slabBytes());
    int share = (int) (bytes / pool.chunkBytes() / 2);
    int mostChunks = Math.max(1, pool.mostChunks() / 2); // the rest is for others
    return new StagingLayout(pool.chunkBytes(), mostChunks, Math.min(mostChunks, share));
  }

  /** A request had to leave blocks out: there should be more memory for the next. */
  void growSoon() {
    if (!takeRoomOfWindows()) {
      pool.growSoon();
    }
  }

  /**
   * A request to be made.
   *
   * @param chunks as the layout says
   */
  Ticket newTicket(int chunks, Taker taker) {
    return new Ticket(chunks, taker, parts.loop().nowNs());
  }

  /**
   * Asks for memory. The ticket is to be cancelled if this throws.
   *
   * @param owner whose turn it costs
   */
  void request(Object owner, Ticket ticket) {
    Deque<Ticket> queue = waiting.computeIfAbsent(owner, o -> new ArrayDeque<>());
    if (queue.isEmpty()) {
      turns.add(owner);
    }
    queue.add(ticket);
    pump();
  }

  private void pump() {
    while (current != null || !turns.isEmpty()) {
      if (current == null) {
        current = nextInTurn();
        continue;
      }
      if (!current.over && !fill(current)) {
        if (check == null) {
          takeRoomOfWindows();
        }
        scheduleCheck();
        return;
      }
      Ticket served = current;
      StagedMemory memory = served.over ? null : new StagedMemory(served.taken);
      current = null;
      if (memory != null) {
        served.over = true;
        memoriesOut++;
        served.taker.onMemory(memory);
      }
    }
    stopChecking();
  }

  /** Null if an Error has kept the ticket out of its queue. */
  private Ticket nextInTurn() {
    Object owner = turns.poll();
    Deque<Ticket> queue = waiting.get(owner);
    Ticket next = queue == null ? null : queue.poll();
    if (queue == null || queue.isEmpty()) {
      waiting.remove(owner);
    } else {
      turns.add(owner);
    }
    return next;
  }

  private boolean fill(Ticket ticket) {
    while (ticket.taken.size() < ticket.chunksNeeded) {
      Chunk chunk = pool.tryTake();
      if (chunk == null) {
        return false;
      }
      ticket.taken.add(chunk);
    }
    return true;
  }

  /** Whether somebody waits for memory. */
  boolean isShort() {
    return current != null;
  }

  /** What it may grow to. */
  long mostBytes() {
    return pool.mostBytes();
  }

  /**
   * Windows that are evicted before they have paid give their room to copies.
   *
   * @return whether they do
   */
  private boolean takeRoomOfWindows() {
    long wanted = Math.min(pool.slabBytes(), pool.mostBytes() - pool.registeredBytes());
    long missing = wanted - parts.budget().availableBytes(MemoryBudget.Use.STAGING);
    return missing > 0 && windows.pressure().bar() > 1 && windows.cede(missing, pool::growNow);
  }

  /** How much it may have from now on; what it has beyond that goes back as it becomes free. */
  void limitTo(int chunks) {
    pool.limitTo(chunks);
  }

  // ---- waiting has an end

  private void scheduleCheck() {
    if (check == null) {
      check = parts.loop().schedule(CHECK_NS, this::checkWaiting);
    }
  }

  private void stopChecking() {
    if (check != null) {
      check.cancel();
      check = null;
    }
  }

  private void checkWaiting() {
    check = null;
    if (current == null) {
      return;
    }
    boolean nothingToComeBack = pool.chunksOut() == current.taken.size() && pool.available() == 0;
    if (nothingToComeBack) {
      reportShortage();
      windows.shrink(pool.mostBytes()); // so that the pool can grow when it retries
      refuse(parts.loop().nowNs());
    } else {
      takeRoomOfWindows();
      refuse(parts.loop().nowNs() - parts.settings().locateTimeout().toNanos() / SHARE_TO_WAIT);
    }
    pump();
  }

  private void reportShortage() {
    long now = parts.loop().nowNs();
    if (now - nextReportNs >= 0) {
      nextReportNs = now + REPORT_EVERY_NS;
      LOG.warn("No memory to stage blocks in: they are left to the engine's shuffle for now");
    }
  }

  /** Refuses those that have waited since that time or longer. */
  private void refuse(long sinceNs) {
    List<Ticket> all = new ArrayList<>();
    all.add(current);
    waiting.values().forEach(all::addAll);
    for (Ticket ticket : all) {
      if (!ticket.over && ticket.sinceNs - sinceNs <= 0) {
        ticket.end();
        ticket.taker.onRefused();
      }
    }
  }

  // ---- giving back

  /** Once per memory, when no adapter can READ it any more. */
  void release(StagedMemory memory) {
    memory.close();
    memoriesOut--;
    try {
      recover();
    } catch (OutOfMemoryError e) { // what comes next is to be released as well
      parts.loop().fail(e);
    }
  }

  /** Goes on with giving back what an Error has kept from it. May be called again. */
  void recover() {
    pool.giveBackExcess();
    closeIfUnused();
  }

  /**
   * {@link #closeIfUnused} is to close it from now on. No request may come any more.
   *
   * @param callback runs when nothing is registered any more
   */
  void whenClosed(Runnable callback) {
    whenClosed = callback;
  }

  /** Gives the memory up once every part of it is released. If it throws, nothing has happened. */
  void closeIfUnused() {
    if (whenClosed == null || memoriesOut > 0) {
      return;
    }
    SlowLanes.Turn closing = parts.lanes().turn(new PoolClosing(pool, whenClosed));
    whenClosed = null;
    housekeeping.submit(closing);
  }

  private record PoolClosing(ChunkPool pool, Runnable callback) implements SlowLanes.Job {
    @Override
    public void run() {
      pool.close();
    }

    @Override
    public void onDone(Throwable failure) {
      callback.run();
      if (failure != null) {
        LOG.error("Closing the staging memory failed", failure);
      }
    }
  }
}
