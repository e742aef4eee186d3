package io.rdmashuffle.transport.memory;

import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.handover.Workers;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Memory in chunks of one size, taken and returned without a system call: registered, or ordinary
 * memory outside the Java heap, which counts as registered here as well. Slabs of chunks are
 * registered when they are first needed, by the slow pool.
 *
 * <p>The last {@code reserveChunks} are registered first and kept for {@link #tryTakeReserved}:
 * whatever ordinary users hold, and for however long, that part comes back as fast as its own users
 * return it.
 *
 * <p><b>Threads:</b> any; the progress thread takes, all kinds of threads return. Nothing but
 * {@link #close} blocks. <b>Ownership:</b> whoever took a chunk closes it; the memory source is
 * lent and outlives the pool.
 */
public final class ChunkPool implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ChunkPool.class);
  private static final long GROWTH_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);

  private final SlabSource source;
  private final ChunkPoolSettings settings;
  private final Growth growth;
  private final NanoClock clock;
  private final ChunkAccounts accounts;
  private final List<Slab> slabs = new CopyOnWriteArrayList<>();
  private final Starved starved = new Starved();
  private volatile int wanted; // free chunks that somebody waits for
  private volatile int mostChunks;
  private volatile GrowthFailure lastFailure;
  private volatile boolean closed;

  private record GrowthFailure(long atNs) {}

  /**
   * A pool without memory; the first that wants a chunk makes it grow.
   *
   * @param slowPool runs registrations; a refusal counts as a failed one
   */
  public ChunkPool(
      SlabSource source, ChunkPoolSettings settings, Workers slowPool, NanoClock clock) {
    this.source = source;
    this.settings = settings;
    this.mostChunks = settings.maxChunks();
    this.growth = new Growth(slowPool);
    this.clock = clock;
    this.accounts = new ChunkAccounts(settings.reserveChunks());
  }

  /**
   * Called after chunks became available to somebody who had gone away empty-handed, on the thread
   * that made them so. Must not block.
   */
  public void onAvailable(Runnable listener) {
    starved.onAvailable(listener);
  }

  /** Takes an ordinary chunk, or returns null and grows in the background if it may. */
  public Chunk tryTake() {
    return take(false);
  }

  /** Like {@link #tryTake}, but may take the reserved part, too. */
  public Chunk tryTakeReserved() {
    return take(true);
  }

  private Chunk take(boolean reserved) {
    Chunk chunk = takeNow(reserved);
    if (chunk == null && !closed) {
      starved.note();
      growSoon();
      chunk = takeNow(reserved); // returned before starved was set, it would wake nobody
    }
    return chunk;
  }

  private Chunk takeNow(boolean reserved) {
    if (closed || accounts.out() >= mostChunks) {
      return null;
    }
    Iterator<Slab> all = slabs.iterator(); // made before anything is taken, like the chunk
    Chunk chunk = new Chunk(this, reserved);
    if (!accounts.tryAdmit(reserved)) {
      return null;
    }
    while (all.hasNext()) {
      if (chunk.takeFrom(all.next())) {
        return chunk;
      }
    }
    accounts.dismiss(reserved);
    return null;
  }

  /** Registers the first slab before anybody needs it, in the background. */
  public void warmUp() {
    if (slabs.isEmpty()) {
      growSoon();
    }
  }

  /** Registers one more slab, if it may, in the background. */
  public void growSoon() {
    if (mayGrow() && growth.tryBegin()) {
      growth.handOver();
    }
  }

  /** The same at once, also if it failed a moment ago: room was made. Slow. */
  public void growNow() {
    if (hasRoomToGrow() && growth.tryBegin()) {
      grow();
    }
  }

  /**
   * Whether so many ordinary chunks are free. If they are not, but growing could give them, it
   * grows in the background and calls the listeners at the end of that, whatever came of it.
   *
   * @param chunks at most {@link #available}, or it is vain
   */
  public boolean prepare(int chunks) {
    if (freeOrdinary() >= chunks) {
      return true;
    }
    wanted = chunks;
    growSoon();
    return freeOrdinary() >= chunks;
  }

  private int freeOrdinary() {
    return accounts.ordinaryLeft(accounts.registered());
  }

  /** Whether slabs are being registered. */
  public boolean isGrowing() {
    return growth.isUnderWay();
  }

  private boolean mayGrow() {
    GrowthFailure failure = lastFailure;
    boolean pausing = failure != null && clock.nanoTime() - failure.atNs < GROWTH_PAUSE_NS;
    return !pausing && hasRoomToGrow();
  }

  private boolean hasRoomToGrow() {
    return !closed && accounts.registered() < mostChunks;
  }

  private void grow() {
    try {
      do {
        addSlab();
      } while (isShort() && hasRoomToGrow());
      lastFailure = null;
    } catch (TransportException | RuntimeException | OutOfMemoryError e) {
      onGrowthFailed(e);
    } finally {
      growth.end();
    }
    if (closed) {
      closeSlabs(); // close() did not see the new one
    } else if (wanted > 0) {
      wanted = 0;
      starved.note();
      starved.wake();
    } else {
      wakeStarved();
    }
  }

  private boolean isShort() {
    return accounts.registered() <= settings.reserveChunks() || freeOrdinary() < wanted;
  }

  private void addSlab() throws TransportException {
    int chunks = Math.min(settings.chunksPerSlab(), mostChunks - accounts.registered());
    if (chunks > 0) { // else the limit was lowered meanwhile
      accounts.onRegistered(Slab.add(slabs, source, settings.chunkBytes(), chunks));
    }
  }

  private void onGrowthFailed(Throwable cause) {
    if (lastFailure == null && !closed) {
      LOG.warn(
          "{} stays at {} of {} chunks for now: {}",
          source.name(),
          accounts.registered(),
          mostChunks,
          cause.toString());
    }
    lastFailure = new GrowthFailure(clock.nanoTime());
  }

  private void wakeStarved() {
    if (accounts.free() > 0) {
      starved.wake();
    }
  }

  private void giveBack(Chunk chunk) {
    chunk.slab.giveBack(chunk.index);
    accounts.dismiss(chunk.reserved);
    if (closed) {
      closeSlabsLate();
    } else {
      wakeStarved();
    }
  }

  /**
   * Lets it have fewer chunks than the settings say, or as many again. No more than that are taken
   * from now on; slabs beyond it go back in the background, once none of their chunks is out.
   *
   * @param chunks 0 for none; more than the settings say means as many as they say
   */
  public void limitTo(int chunks) {
    mostChunks = Math.min(chunks, settings.maxChunks());
    giveBackExcess();
  }

  /** Gives back what is beyond the limit and not in use. To be called when chunks came back. */
  public void giveBackExcess() {
    if (accounts.registered() > mostChunks) {
      shrinkSoon(() -> shrinkTo(mostChunks));
    }
  }

  /** Gives back the slabs of which no chunk is out, but for the reserve. In the background. */
  public void shrink() {
    shrinkSoon(() -> shrinkTo(0));
  }

  private void shrinkSoon(Runnable shrink) {
    growth.slowPool.execute(Work.of(shrink));
  }

  private void shrinkTo(int chunks) {
    for (int i = slabs.size() - 1; i >= 0 && accounts.registered() > chunks; i--) {
      Slab slab = slabs.get(i);
      if (!accounts.tryWithdraw(slab.chunks())) {
        continue;
      }
      if (slab.tryRetire()) {
        Slab.remove(slabs, slab);
      } else {
        accounts.onRegistered(slab.chunks());
      }
    }
  }

  public int chunkBytes() {
    return settings.chunkBytes();
  }

  /** What the pool grows by, but for the last step. */
  public long slabBytes() {
    return (long) Math.min(settings.chunksPerSlab(), mostChunks) * settings.chunkBytes();
  }

  /** What the pool has when it has grown to its limit. */
  public long mostBytes() {
    return (long) mostChunks * settings.chunkBytes();
  }

  /** Chunks it may have. */
  public int mostChunks() {
    return mostChunks;
  }

  /** Ordinary chunks that can be had now, or after growing: without waiting for anybody. */
  public int available() {
    int most = mayGrow() ? mostChunks : accounts.registered();
    return accounts.ordinaryLeft(most);
  }

  /** Chunks that are registered and not taken, reserved ones included. */
  public int free() {
    return accounts.free();
  }

  /** Chunks that somebody holds. */
  public int chunksOut() {
    return accounts.out();
  }

  /** What the pool has, of the budget where that counts it. */
  public long registeredBytes() {
    return (long) accounts.registered() * settings.chunkBytes();
  }

  /**
   * Deregisters everything; no adapter may use the memory any more. Slabs of which chunks are out
   * stay mapped, as somebody may look at them: each is unmapped when its last chunk returns, and
   * never if one does not. (A Cleaner could not help: views of a chunk do not keep it reachable.)
   * Idempotent. Slow; {@link #chunksOut} tells what was left.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    Slab.Each end = new Slab.Each(this::end); // first: the adapter keeps no slab for want of memory
    closed = true;
    slabs.forEach(end);
    try {
      tellWhatIsOut();
    } finally {
      end.rethrow();
    }
  }

  private void end(Slab slab) {
    if (!closeIfUnused(slab)) {
      slab.memory().deregister();
    }
  }

  private void tellWhatIsOut() {
    if (chunksOut() > 0) {
      LOG.warn(
          "{} closed with {} chunks of {} in use: their memory stays mapped until they return",
          source.name(),
          chunksOut(),
          ByteText.of(settings.chunkBytes()));
    }
  }

  private void closeSlabs() {
    Slab.Each close = new Slab.Each(this::closeIfUnused);
    slabs.forEach(close);
    close.rethrow();
  }

  private boolean closeIfUnused(Slab slab) {
    boolean unused = slab.tryRetire();
    if (unused) {
      accounts.onRegistered(-slab.chunks());
      Slab.remove(slabs, slab);
    }
    return unused;
  }

  /** On the thread of a consumer, who is not to suffer. */
  private void closeSlabsLate() {
    try {
      closeSlabs();
    } catch (RuntimeException e) {
      LOG.debug("memory of {} stays mapped", source.name(), e);
    }
  }

  /** At most one growth is under way at a time, in the background or not. */
  private final class Growth extends Work {
    private final Workers slowPool;
    private final AtomicBoolean underWay = new AtomicBoolean();

    Growth(Workers slowPool) {
      this.slowPool = slowPool;
    }

    boolean tryBegin() {
      return underWay.compareAndSet(false, true);
    }

    boolean isUnderWay() {
      return underWay.get();
    }

    void handOver() {
      slowPool.execute(this);
    }

    void end() {
      underWay.set(false);
    }

    @Override
    protected void run() {
      grow();
    }

    @Override
    protected void abandoned(Throwable why) {
      try {
        onGrowthFailed(why);
      } finally {
        end();
      }
    }
  }

  /**
   * A piece of registered memory. Whoever took it closes it, once, on any thread; afterwards
   * neither its address nor a view of it may be used, by nobody and no adapter.
   */
  public static final class Chunk implements AutoCloseable {
    private static final AtomicIntegerFieldUpdater<Chunk> RETURNED =
        AtomicIntegerFieldUpdater.newUpdater(Chunk.class, "returned");

    private final ChunkPool pool;
    private final boolean reserved;
    private Slab slab;
    private int index;
    private volatile int returned;

    private Chunk(ChunkPool pool, boolean reserved) {
      this.pool = pool;
      this.reserved = reserved;
    }

    private boolean takeFrom(Slab from) {
      slab = from;
      index = from.tryTake();
      return index >= 0;
    }

    public long address() {
      return slab.memory().address() + slab.offsetBytes(index);
    }

    public int lkey() {
      return slab.memory().lkey();
    }

    public int rkey() {
      return slab.memory().rkey();
    }

    public int bytes() {
      return pool.chunkBytes();
    }

    /** Whether the other chunk's memory begins where this one's ends, under the same keys. */
    public boolean isFollowedBy(Chunk next) {
      return slab == next.slab && next.index == index + 1;
    }

    /**
     * A view of a part; it ends with the chunk.
     *
     * @throws IllegalStateException if the chunk is closed
     */
    public ByteBuffer view(int offsetBytes, int bytes) {
      return view(this, offsetBytes, bytes);
    }

    /**
     * A view that may reach into the chunks that follow; it ends with the first of them that does.
     *
     * @param last of the chunks it may reach into, each of which {@linkplain #isFollowedBy follows}
     *     the one before; the caller has taken them all
     * @throws IllegalStateException if the first or the last chunk is closed
     */
    public ByteBuffer view(Chunk last, int offsetBytes, int bytes) {
      if (returned != 0 || last.returned != 0) {
        throw new IllegalStateException("view of a closed chunk");
      }
      if (slab != last.slab || last.index < index) {
        throw new IllegalArgumentException("chunk " + last.index + " does not follow " + index);
      }
      long room = (last.index - index + 1L) * pool.chunkBytes();
      if (offsetBytes < 0 || bytes < 0 || bytes > room - offsetBytes) {
        throw new IndexOutOfBoundsException(
            "view of " + bytes + " bytes at " + offsetBytes + " of " + room);
      }
      return slab.memory().view(slab.offsetBytes(index) + (long) offsetBytes, bytes);
    }

    /**
     * Returns it to the pool.
     *
     * @throws IllegalStateException if it is closed already: somebody else may have the memory
     */
    @Override
    public void close() {
      if (!RETURNED.compareAndSet(this, 0, 1)) {
        throw new IllegalStateException("chunk closed twice");
      }
      pool.giveBack(this);
    }
  }
}
