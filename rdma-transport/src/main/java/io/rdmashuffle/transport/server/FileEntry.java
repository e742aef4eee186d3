package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.memory.Pages;
import io.rdmashuffle.transport.wire.WireLimits;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What one domain's cache knows of a file that has been asked for: its windows, ordered and without
 * overlap, and what of each slot was asked for in vain. A slot is an aligned part of the file of
 * the largest window's size; no window crosses slots.
 *
 * <p><b>Threads:</b> progress thread, except {@link #confirm} and {@link #expectOwnWrites}, which
 * the slow pool calls.
 */
final class FileEntry {
  private static final long LONGEST_BYTES = 1L << 62;

  private final OutputFile file;
  private final long slotBytes;
  private final Pages pages;
  private final AtomicReference<FileIdentity> identity = new AtomicReference<>();
  private final List<Window> windows = new ArrayList<>(1);
  private final SlotDemand demand = new SlotDemand();
  private volatile boolean ownWrites;
  private int busy;
  private boolean forgotten;
  private boolean copyOnly;
  private final List<Runnable> onQuiet = new ArrayList<>(0);
  private Runnable atLast;

  /**
   * @param slotBytes whole pages
   */
  FileEntry(OutputFile file, long slotBytes, Pages pages) {
    this.file = file;
    this.slotBytes = slotBytes;
    this.pages = pages;
  }

  OutputFile file() {
    return file;
  }

  Pages pages() {
    return pages;
  }

  /** What was asked of its slots and had to be copied. */
  SlotDemand demand() {
    return demand;
  }

  /** As {@link io.rdmashuffle.transport.memory.FileWindows#support} names it. */
  Path place() {
    return file.placed().place();
  }

  /**
   * Checks that the path still leads to the file first seen. Any thread.
   *
   * @throws NotServedException if it is gone, too short, or another file
   */
  void confirm() throws NotServedException {
    confirm(file.path());
  }

  /**
   * The same of what another path leads to, which holds the file.
   *
   * @throws NotServedException if it is too short, or another file
   */
  void confirm(Path held) throws NotServedException {
    FileIdentity found = FileIdentity.of(file, held);
    identity.compareAndSet(null, found);
    FileIdentity first = identity.get();
    boolean same = ownWrites ? found.isSameFile(first) : found.equals(first);
    if (!same || !file.mayBe(found.key())) {
      throw new NotServedException(
          FallbackReason.FILE_CHANGED, file + " was " + first + ", is " + found, null);
    }
  }

  /**
   * From now on the time of the last write tells nothing: pinning a writable mapping makes its
   * pages writable, for which ext4 and xfs set it (file_update_time in their page_mkwrite), though
   * no byte changes. Any thread, before it maps.
   */
  void expectOwnWrites() {
    ownWrites = true;
  }

  // ---- windows

  long slotOf(long offsetBytes) {
    return offsetBytes / slotBytes;
  }

  long slotEnd(long slot) {
    return (slot + 1) * slotBytes;
  }

  /**
   * Whether windows may hold the block: it must not be more pieces than an answer has room for, as
   * many as it touches slots at least, nor lie where page-aligned offsets are no numbers any more.
   */
  boolean mayHaveWindows(BlockLocation block) {
    long last = block.offsetBytes() + block.bytes() - 1;
    return file.bytes() <= LONGEST_BYTES
        && slotOf(last) - slotOf(block.offsetBytes()) < WireLimits.PIECES_PER_BLOCK;
  }

  List<Window> windows() {
    return windows;
  }

  /** The window that holds the byte, or null. */
  Window windowAt(long offsetBytes) {
    int i = indexAfter(offsetBytes) - 1;
    return i >= 0 && windows.get(i).toBytes() > offsetBytes ? windows.get(i) : null;
  }

  /** Where the first window behind the offset begins, or {@code limit} if that is less. */
  long nextWindowFrom(long offsetBytes, long limit) {
    int i = indexAfter(offsetBytes);
    return i < windows.size() ? Math.min(limit, windows.get(i).fromBytes()) : limit;
  }

  /** Where the last window that begins before the offset ends, or {@code limit} if that is more. */
  long previousWindowTo(long offsetBytes, long limit) {
    int i = indexAfter(offsetBytes) - 1;
    return i >= 0 ? Math.max(limit, windows.get(i).toBytes()) : limit;
  }

  /**
   * @throws IllegalStateException if it overlaps another or is empty
   */
  void add(Window window) {
    boolean follows = previousWindowTo(window.fromBytes(), 0) <= window.fromBytes();
    boolean precedes = nextWindowFrom(window.fromBytes(), window.toBytes()) >= window.toBytes();
    if (!follows || !precedes || window.bytes() <= 0) {
      throw new IllegalStateException(window + " overlaps one of " + windows);
    }
    windows.add(indexAfter(window.fromBytes()), window);
  }

  void remove(Window window) {
    windows.remove(window);
  }

  /** Bytes of the slot that have a window. */
  long coveredBytes(long slot) {
    long sum = 0;
    for (int i = indexAfter(slot * slotBytes - 1); i < windows.size(); i++) {
      if (windows.get(i).fromBytes() >= slotEnd(slot)) {
        break;
      }
      sum += windows.get(i).bytes();
    }
    return sum;
  }

  /** The index of the first window that begins behind the offset. */
  private int indexAfter(long offsetBytes) {
    int low = 0;
    int high = windows.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (windows.get(middle).fromBytes() <= offsetBytes) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  // ---- life

  /** Whether nothing may be granted any more. */
  boolean isForgotten() {
    return forgotten;
  }

  /**
   * May be called again.
   *
   * @param whenQuiet runs once no window is left and no job works on the file, perhaps at once; if
   *     it throws, it runs again
   * @param whenTold runs once every {@code whenQuiet} has
   */
  void forget(Runnable whenQuiet, Runnable whenTold) {
    onQuiet.add(whenQuiet);
    atLast = whenTold;
    forgotten = true;
    runIfQuiet();
  }

  /** A job, or a window until it is unmapped: each must end before the file counts as closed. */
  void beginBusy() {
    busy++;
  }

  /** Only counts, so that it cannot fail; {@link #runIfQuiet} is to follow. */
  void endBusy() {
    busy--;
  }

  /** Tells those who wait for that. May be called again, should an Error have cut it short. */
  void runIfQuiet() {
    if (busy > 0 || !forgotten) {
      return;
    }
    while (!onQuiet.isEmpty()) {
      onQuiet.get(0).run();
      onQuiet.remove(0); // afterwards: one that fails runs again
    }
    atLast.run();
  }

  /** Whether registering it has failed for a reason that stays. */
  boolean isCopyOnly() {
    return copyOnly;
  }

  void makeCopyOnly() {
    copyOnly = true;
  }

  @Override
  public String toString() {
    return file + ", " + windows.size() + " windows";
  }
}
