package io.rdmashuffle.transport.server;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/** Registered windows that nobody uses, the one idle for longest first. Progress thread only. */
final class IdleWindows {
  private final Set<Window> windows = new LinkedHashSet<>();
  private long bytes;

  void add(Window window) {
    if (windows.add(window)) {
      bytes += window.bytes();
    }
  }

  void remove(Window window) {
    if (windows.remove(window)) {
      bytes -= window.bytes();
    }
  }

  /** Takes out the one idle for longest; there must be one. */
  Window takeOldest() {
    Iterator<Window> i = windows.iterator();
    Window oldest = i.next();
    i.remove();
    bytes -= oldest.bytes();
    return oldest;
  }

  long bytes() {
    return bytes;
  }
}
