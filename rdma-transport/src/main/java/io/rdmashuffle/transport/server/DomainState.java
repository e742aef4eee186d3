package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.memory.Pages;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Everything that belongs to one protection domain: its windows, its staging memory, its sessions.
 * Progress thread only.
 */
final class DomainState {
  private final WindowCache windows;
  private final WindowPlanner planner;
  private final Staging staging;
  private final StagingShares shares;
  private final KeyRoom.Share keyRoom;
  private final Set<ServerSession> sessions = new LinkedHashSet<>();
  private final List<Runnable> whenGone = new ArrayList<>(1);
  private boolean closing;
  private boolean clearing;
  private boolean gone;

  DomainState(ServerParts parts, ProtectionDomain domain) {
    windows = new WindowCache(parts, domain);
    staging = new Staging(parts, domain, windows);
    shares = parts.stagingShares();
    keyRoom = parts.keyRoom().new Share();
    planner =
        new WindowPlanner(
            windows,
            staging,
            parts.settings().stageBelowBytes(),
            new Pages(parts.hostMemory().pageBytes()));
  }

  WindowCache windows() {
    return windows;
  }

  WindowPlanner planner() {
    return planner;
  }

  Staging staging() {
    return staging;
  }

  KeyRoom.Share keyRoom() {
    return keyRoom;
  }

  List<ServerSession> sessions() {
    return List.copyOf(sessions);
  }

  boolean isClosing() {
    return closing;
  }

  void add(ServerSession session) {
    sessions.add(session);
    shares.setUsed(staging, true);
  }

  void remove(ServerSession session) {
    sessions.remove(session);
    if (sessions.isEmpty()) {
      shares.setUsed(staging, false);
    }
    clearIfUnused();
  }

  /**
   * Closes the sessions, then gives up all memory. May be called again.
   *
   * @param callback runs once nothing is registered in the domain any more, perhaps at once; if it
   *     throws, it may run again
   */
  void close(TransportException cause, Runnable callback) {
    if (gone) {
      callback.run();
      return;
    }
    whenGone.add(callback);
    closing = true;
    sessions().forEach(s -> s.revoke(cause));
    clearIfUnused();
  }

  private void clearIfUnused() {
    if (!closing || clearing || !sessions.isEmpty()) {
      return;
    }
    List<OutputFile> files = windows.files();
    Countdown left = new Countdown(files.size() + 1, this::onCleared);
    files.forEach(f -> windows.forget(f, left::arrive));
    staging.whenClosed(left::arrive);
    clearing = true; // first: what follows is recovered by itself
    staging.closeIfUnused();
  }

  /** Takes up what an Error has kept from its end. May be called again. */
  void recover() {
    windows.recover();
    staging.recover();
    clearIfUnused();
    if (gone) {
      onCleared();
    }
  }

  private void onCleared() {
    gone = true;
    while (!whenGone.isEmpty()) {
      whenGone.get(0).run();
      whenGone.remove(0); // afterwards: one that fails runs again
    }
  }
}
