package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.memory.Pages;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The registered parts of files in one protection domain. Windows that nobody uses stay registered
 * until room is needed, here or in another domain; the one idle for longest goes first ({@link
 * WindowRoom}).
 *
 * <p>It registers what it is told to; {@link WindowPlanner} decides what that is, {@link
 * WindowRegistrar} does it.
 *
 * <p><b>Threads:</b> progress thread only.
 */
final class WindowCache {
  private final ServerParts parts;
  private final Pages pages;
  private final long slotBytes;
  private final WindowRegistrar registrar;
  private final Map<OutputFile, FileEntry> entries = new HashMap<>();
  private final WindowRoom room;
  private final IdleWindows idle;
  private final Pressure pressure;
  private long heldBytes; // windows registered or on their way, without those on their way out
  private boolean ceding;

  WindowCache(ServerParts parts, ProtectionDomain domain) {
    this.parts = parts;
    this.pages = new Pages(parts.hostMemory().pageBytes());
    this.slotBytes = Math.max(pages.pageBytes(), pages.down(parts.settings().windowBytes()));
    this.room = parts.windowRoom();
    this.idle = room.idle();
    this.registrar = new WindowRegistrar(parts, domain);
    this.pressure = new Pressure(parts.loop()::nowNs);
  }

  /** What is known of a file, made when it is first asked for. Null if the file is forgotten. */
  FileEntry entry(OutputFile file) {
    FileEntry known = entries.get(file);
    if (known != null) {
      return known.isForgotten() ? null : known;
    }
    if (parts.forgotten().contains(file)) {
      return null;
    }
    FileEntry fresh = new FileEntry(file, slotBytes, pages);
    entries.put(file, fresh);
    return fresh;
  }

  /**
   * Holds the windows under a block, registered or on their way.
   *
   * @param index of the block in its request
   * @param block not empty
   * @return null if a part of it has no window
   */
  WindowClaim claim(
      FileEntry entry, int index, BlockLocation block, WindowClaim.Listener listener) {
    long end = block.offsetBytes() + block.bytes();
    for (long at = block.offsetBytes(); at < end; ) {
      Window window = entry.windowAt(at);
      if (window == null) {
        return null;
      }
      at = window.toBytes();
    }
    WindowClaim claim = new WindowClaim(index, block, listener);
    boolean complete = false;
    try {
      for (long at = block.offsetBytes(); at < end; ) {
        Window window = entry.windowAt(at);
        claim.hold(window);
        idle.remove(window);
        at = window.toBytes();
      }
      complete = true;
      return claim;
    } finally {
      if (!complete) {
        release(claim);
      }
    }
  }

  /** Ends a claim's uses of its windows. Once per claim. */
  void release(WindowClaim claim) {
    for (int i = 0; i < claim.windows().size(); i++) {
      release(claim.windows().get(i));
    }
  }

  /** Ends one use of a window. What an Error keeps from its end {@link #recover} takes up. */
  void release(Window window) {
    if (window.endUse() && window.state() == Window.State.READY) {
      onUnused(window);
    }
  }

  /** Takes up what an Error has kept from its end: forgotten files go, with their windows. */
  void recover() {
    for (FileEntry entry : List.copyOf(entries.values())) {
      if (entry.isForgotten()) {
        dismissUnused(entry);
        entry.runIfQuiet();
      } else if (parts.forgotten().contains(entry.file())) {
        forget(entry.file(), () -> {}); // whoever asked for it was told that it failed
      }
    }
  }

  private void onUnused(Window window) {
    if (window.isRetired()) {
      try {
        dismiss(window);
      } catch (OutOfMemoryError e) { // what comes next is to be released as well
        parts.loop().fail(e);
      }
    } else {
      idle.add(window, this);
    }
  }

  // ---- room

  /** Whether registering in this file makes sense now; else its blocks are copied. */
  boolean canRegister(FileEntry entry) {
    return registrar.canRegister(entry);
  }

  /** As {@link WindowRoom#freeBytes}. */
  long freeBytes() {
    return room.freeBytes();
  }

  /** Bytes of windows of this domain, registered or on their way. */
  long heldBytes() {
    return heldBytes;
  }

  /** Bytes that eviction could free, in any domain. */
  long idleBytes() {
    return idle.bytes();
  }

  Pressure pressure() {
    return pressure;
  }

  /** Takes the windows idle for longest out, as many as it takes. They are still registered. */
  private void evict(List<Window> victims, int count) {
    for (int i = 0; i < count; i++) {
      victims.add(idle.takeNext());
    }
  }

  /** An idle window of this cache has to go, for whatever domain. Still registered. */
  void onEvicted(Window window) {
    pressure.onEvicted(window, heldBytes);
    hold(-window.bytes());
    window.entry().remove(window);
    window.becomeGone();
    parts.counters().increment(Counter.WINDOWS_EVICTED);
  }

  private void hold(long deltaBytes) {
    heldBytes += deltaBytes;
    room.held(deltaBytes);
  }

  /** Evicts to give that much back to the budget, or as much as there is. */
  void shrink(long bytes) {
    for (int left = idle.countFor(Math.min(bytes, idle.bytes())); left > 0; left--) {
      registrar.close(1, v -> evict(v, 1), () -> {}, () -> {});
    }
  }

  /**
   * Evicts to give that much of the budget, or nothing, to another use, which takes it before
   * windows can. Does nothing while an earlier call is under way.
   *
   * @param taker takes it, on the slow pool
   * @return whether room is on its way
   */
  boolean cede(long bytes, Runnable taker) {
    if (!ceding && bytes <= idle.bytes()) {
      int count = idle.countFor(bytes);
      registrar.close(count, v -> evict(v, count), taker, () -> ceding = false);
      ceding = true;
    }
    return ceding;
  }

  // ---- life of a window

  /**
   * Starts to register a range in which there is no window.
   *
   * @param lane whose turn it costs
   * @return false if there is no room for it
   */
  boolean register(FileEntry entry, long fromBytes, long toBytes, SlowLanes.Lane lane) {
    long bytes = toBytes - fromBytes;
    long missing = bytes - freeBytes();
    if (missing > idle.bytes()) {
      return false;
    }
    int count = idle.countFor(missing);
    long promised = Math.max(0, bytes - idle.bytesOf(count));
    List<Window> victims = new ArrayList<>(count);
    Window window = new Window(entry, fromBytes, toBytes);
    SlowLanes.Turn registration =
        registrar.registration(window, victims, failure -> onSettled(window, promised, failure));
    entry.add(window);
    evict(victims, count); // from here on nothing is allocated
    entry.beginBusy();
    hold(bytes);
    room.promised(promised);
    lane.submit(registration);
    return true;
  }

  /**
   * @param failure null if the window is registered
   */
  private void onSettled(Window window, long promised, Throwable failure) {
    room.promised(-promised);
    List<WindowClaim> waiting = window.takeWaiting();
    if (failure != null) {
      hold(-window.bytes());
      window.becomeGone();
      window.entry().remove(window);
      try {
        FallbackReason reason = registrar.onRefused(window, failure);
        waiting.forEach(c -> c.onFailed(reason));
      } finally {
        window.entry().endBusy();
        window.entry().runIfQuiet();
      }
      return;
    }
    room.onRegistered();
    boolean retired = window.isRetired(); // forgotten meanwhile
    if (!window.isUsed()) {
      onUnused(window);
    }
    waiting.forEach(retired ? c -> c.onFailed(FallbackReason.UNKNOWN_BLOCK) : WindowClaim::onReady);
  }

  private void dismiss(Window window) {
    registrar.close(window); // first: it may fail
    idle.remove(window);
    hold(-window.bytes());
    window.becomeGone();
    window.entry().remove(window);
  }

  /**
   * Grants nothing out of the file any more and gives up its windows, used ones when their last use
   * ends.
   *
   * @param whenGone runs once nothing of the file is registered, mapped or open
   */
  void forget(OutputFile file, Runnable whenGone) {
    FileEntry entry = entries.get(file);
    if (entry == null) {
      whenGone.run();
      return;
    }
    entry.forget(whenGone, () -> entries.remove(file, entry));
    dismissUnused(entry);
  }

  /** Its windows go: those in use when their last use ends. May be called again. */
  private void dismissUnused(FileEntry forgotten) {
    for (Window window : List.copyOf(forgotten.windows())) {
      window.retire();
      if (window.state() == Window.State.READY && !window.isUsed()) {
        dismiss(window);
      }
    }
  }

  /** The files of which something is known. */
  List<OutputFile> files() {
    return List.copyOf(entries.keySet());
  }
}
