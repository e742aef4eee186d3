package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.memory.Pages;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides which blocks without a window get one and which are copied. Both cost about the same per
 * byte, but a window serves again: like one who rents until the rent paid equals the price, a small
 * block is copied until as much has been asked for around it as the smallest window worth having.
 * If its registration evicts others, the price is multiplied by {@link Pressure#bar}, and what was
 * asked for elsewhere in the slot does not count: such a window will not hold it.
 *
 * <ul>
 *   <li>A block as long as the price is registered at once, its own pages at least. So is one of
 *       {@code stageBelowBytes} while copies wait for memory of which windows have more.
 *   <li>A window grows beyond the blocks by what else its slot has registered or was asked for, so
 *       that the windows of a slot double; only into free room, never by eviction.
 *   <li>Blocks of one request that lie close together share a window.
 * </ul>
 *
 * <p>Progress thread only.
 */
final class WindowPlanner {
  private static final int SHARE_TO_GROW = 8; // of the free room, the rest is for what is asked for

  private final WindowCache cache;
  private final Staging staging;
  private final int stageBelowBytes;
  private final Pages pages;

  WindowPlanner(WindowCache cache, Staging staging, int stageBelowBytes, Pages pages) {
    this.cache = cache;
    this.staging = staging;
    this.stageBelowBytes = stageBelowBytes;
    this.pages = pages;
  }

  /** A range of a file without windows, within one slot, page-aligned. */
  private record Gap(long fromBytes, long toBytes) {
    long bytes() {
      return toBytes - fromBytes;
    }
  }

  /**
   * Starts the registrations worth their price. Afterwards every block can be claimed or not.
   *
   * @param misses blocks that cannot be claimed, not empty ones
   */
  void plan(List<BlockLocation> misses, SlowLanes.Lane lane) {
    Map<FileEntry, List<BlockLocation>> byFile = new LinkedHashMap<>();
    for (BlockLocation block : misses) {
      FileEntry entry = cache.entry(block.file());
      if (entry != null && entry.mayHaveWindows(block)) {
        byFile.computeIfAbsent(entry, e -> new ArrayList<>(1)).add(block);
      }
    }
    byFile.forEach((entry, blocks) -> blocks.forEach(b -> addDemand(entry, b)));
    byFile.forEach((entry, blocks) -> planFile(entry, blocks, lane));
  }

  private void addDemand(FileEntry entry, BlockLocation block) {
    for (Gap gap : gaps(entry, block)) {
      long from = Math.max(gap.fromBytes(), block.offsetBytes());
      long to = Math.min(gap.toBytes(), block.offsetBytes() + block.bytes());
      entry.demand().add(entry.slotOf(from), from, to, cache.pressure().epoch());
    }
  }

  private void planFile(FileEntry entry, List<BlockLocation> blocks, SlowLanes.Lane lane) {
    if (!cache.canRegister(entry)) {
      return;
    }
    List<Gap> wanted = new ArrayList<>(blocks.size());
    for (BlockLocation block : blocks) {
      List<Gap> gaps = gaps(entry, block);
      if (isWorthIt(entry, block, gaps)) {
        wanted.addAll(gaps);
      }
    }
    for (Gap run : merge(entry, wanted)) {
      // The window of the run before may have grown into this one.
      for (Gap gap : gaps(entry, run.fromBytes(), run.toBytes())) {
        register(entry, grow(entry, gap), lane);
      }
    }
  }

  private void register(FileEntry entry, Gap window, SlowLanes.Lane lane) {
    if (cache.register(entry, window.fromBytes(), window.toBytes(), lane)) {
      entry.demand().clear(entry.slotOf(window.fromBytes()));
    }
  }

  private boolean isWorthIt(FileEntry entry, BlockLocation block, List<Gap> gaps) {
    long bytes = gaps.stream().mapToLong(Gap::bytes).sum();
    long free = cache.freeBytes();
    if (bytes > free + cache.idleBytes()) {
      return false; // windows for a part of the block would be in vain
    }
    boolean evicts = bytes > free;
    long price = (long) stageBelowBytes * (evicts ? cache.pressure().bar() : 1);
    if (block.bytes() >= (isStagingCrowded() ? stageBelowBytes : price)) {
      return true;
    }
    return gaps.stream().allMatch(g -> demand(entry, g, evicts) >= price);
  }

  /** What was asked for around a gap; of that only the window's share, if it cannot grow. */
  private long demand(FileEntry entry, Gap gap, boolean evicts) {
    long slot = entry.slotOf(gap.fromBytes());
    return evicts
        ? entry.demand().shareOf(slot, Math.max(gap.bytes(), stageBelowBytes))
        : entry.demand().bytes(slot);
  }

  private boolean isStagingCrowded() {
    return staging.isShort() && cache.heldBytes() > staging.mostBytes();
  }

  /** The parts of a block that have no window, whole pages, split where slots end. */
  private List<Gap> gaps(FileEntry entry, BlockLocation block) {
    return gaps(
        entry, pages.down(block.offsetBytes()), pages.up(block.offsetBytes() + block.bytes()));
  }

  private static List<Gap> gaps(FileEntry entry, long from, long end) {
    List<Gap> gaps = new ArrayList<>(1);
    for (long at = from; at < end; ) {
      Window window = entry.windowAt(at);
      if (window != null) {
        at = window.toBytes();
      } else {
        long slotEnd = entry.slotEnd(entry.slotOf(at));
        long to = entry.nextWindowFrom(at, Math.min(end, slotEnd));
        gaps.add(new Gap(at, to));
        at = to;
      }
    }
    return gaps;
  }

  /** Joins gaps of one slot that overlap or lie close together with nothing registered between. */
  private List<Gap> merge(FileEntry entry, List<Gap> gaps) {
    gaps.sort(Comparator.comparingLong(Gap::fromBytes));
    List<Gap> runs = new ArrayList<>(gaps.size());
    for (Gap gap : gaps) {
      Gap last = runs.isEmpty() ? null : runs.get(runs.size() - 1);
      if (last != null && belongTogether(entry, last, gap)) {
        runs.set(
            runs.size() - 1, new Gap(last.fromBytes(), Math.max(last.toBytes(), gap.toBytes())));
      } else {
        runs.add(gap);
      }
    }
    return runs;
  }

  private boolean belongTogether(FileEntry entry, Gap left, Gap right) {
    return entry.slotOf(left.fromBytes()) == entry.slotOf(right.fromBytes())
        && right.fromBytes() - left.toBytes() <= stageBelowBytes
        && entry.nextWindowFrom(left.fromBytes(), right.fromBytes()) == right.fromBytes();
  }

  /** Extends a run into free room: towards the file's end first, where the next blocks lie. */
  private Gap grow(FileEntry entry, Gap run) {
    long slot = entry.slotOf(run.fromBytes());
    long asked = Math.min(entry.demand().bytes(slot), entry.demand().spreadBytes(slot));
    long besides = Math.max(0, asked - run.bytes());
    long earned = (entry.coveredBytes(slot) + besides) / cache.pressure().bar();
    long spare = (cache.freeBytes() - run.bytes()) / SHARE_TO_GROW;
    long extra = pages.down(Math.min(earned, spare));
    if (extra <= 0) {
      return run;
    }
    long slotFrom = entry.slotEnd(slot - 1);
    long slotTo = Math.min(entry.slotEnd(slot), pages.up(entry.file().bytes()));
    long forward = Math.min(extra, entry.nextWindowFrom(run.fromBytes(), slotTo) - run.toBytes());
    long backward =
        Math.min(
            extra - forward,
            run.fromBytes() - entry.previousWindowTo(run.fromBytes() - 1, slotFrom));
    return new Gap(run.fromBytes() - backward, run.toBytes() + forward);
  }
}
