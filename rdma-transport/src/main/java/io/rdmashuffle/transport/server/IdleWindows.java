package io.rdmashuffle.transport.server;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Registered windows that nobody uses, of all domains, in the order in which they are evicted:
 * first those that grew for nothing, then all others, of each kind the one idle for longest.
 * Progress thread only.
 */
final class IdleWindows {
  private final Map<Window, WindowCache> oversized = new LinkedHashMap<>();
  private final Map<Window, WindowCache> others = new LinkedHashMap<>();
  private long bytes;

  /**
   * @param home the cache it belongs to
   */
  void add(Window window, WindowCache home) {
    if ((window.isOversized() ? oversized : others).putIfAbsent(window, home) == null) {
      bytes += window.bytes();
    }
  }

  void remove(Window window) {
    if (oversized.remove(window) != null || others.remove(window) != null) {
      bytes -= window.bytes();
    }
  }

  /** Takes out the next to be evicted, and tells its cache; there must be one. */
  Window takeNext() {
    Iterator<Map.Entry<Window, WindowCache>> i =
        (oversized.isEmpty() ? others : oversized).entrySet().iterator();
    Map.Entry<Window, WindowCache> next = i.next();
    i.remove();
    Window window = next.getKey();
    bytes -= window.bytes();
    next.getValue().onEvicted(window);
    return window;
  }

  long bytes() {
    return bytes;
  }
}
