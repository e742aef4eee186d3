package io.rdmashuffle.transport.server;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Registered windows that nobody uses, in the order in which they are evicted: first those that
 * grew for nothing, then all others, of each kind the one idle for longest. Progress thread only.
 */
final class IdleWindows {
  private final Set<Window> oversized = new LinkedHashSet<>();
  private final Set<Window> others = new LinkedHashSet<>();
  private long bytes;

  void add(Window window) {
    if ((window.isOversized() ? oversized : others).add(window)) {
      bytes += window.bytes();
    }
  }

  void remove(Window window) {
    if (oversized.remove(window) || others.remove(window)) {
      bytes -= window.bytes();
    }
  }

  /** Takes out the next to be evicted; there must be one. */
  Window takeNext() {
    Iterator<Window> i = (oversized.isEmpty() ? others : oversized).iterator();
    Window next = i.next();
    i.remove();
    bytes -= next.bytes();
    return next;
  }

  long bytes() {
    return bytes;
  }
}
