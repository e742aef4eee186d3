package io.rdmashuffle.transport.server;

/**
 * Registered windows that nobody uses, of all domains, in the order in which they are evicted:
 * first those that grew for nothing, then all others, of each kind the one idle for longest.
 * Allocates nothing. Progress thread only.
 */
final class IdleWindows {
  private final Queue oversized = new Queue();
  private final Queue others = new Queue();
  private long bytes;

  /** A window's place here. */
  static final class Place {
    private final Window window;
    private WindowCache home; // null: not idle
    private Queue queue;
    private Place before;
    private Place after;

    Place(Window window) {
      this.window = window;
    }
  }

  /** Those of one kind. */
  private static final class Queue {
    private Place oldest;
    private Place newest;

    void add(Place place) {
      place.queue = this;
      place.before = newest;
      place.after = null;
      if (newest == null) {
        oldest = place;
      } else {
        newest.after = place;
      }
      newest = place;
    }

    void remove(Place place) {
      if (place.before == null) {
        oldest = place.after;
      } else {
        place.before.after = place.after;
      }
      if (place.after == null) {
        newest = place.before;
      } else {
        place.after.before = place.before;
      }
      place.before = null;
      place.after = null;
      place.queue = null;
    }
  }

  /**
   * @param home the cache it belongs to
   */
  void add(Window window, WindowCache home) {
    Place place = window.idlePlace();
    if (place.home == null) {
      place.home = home;
      (window.isOversized() ? oversized : others).add(place);
      bytes += window.bytes();
    }
  }

  void remove(Window window) {
    Place place = window.idlePlace();
    if (place.home != null) {
      place.home = null;
      place.queue.remove(place);
      bytes -= window.bytes();
    }
  }

  /** Takes out the next to be evicted, and tells its cache; there must be one. */
  Window takeNext() {
    Place next = next(null);
    WindowCache home = next.home;
    remove(next.window);
    home.onEvicted(next.window);
    return next.window;
  }

  /** The one that is evicted after that one, null for the first. */
  private Place next(Place place) {
    if (place == null) {
      return oversized.oldest == null ? others.oldest : oversized.oldest;
    }
    return place.after == null && place.queue == oversized ? others.oldest : place.after;
  }

  /** How many must be evicted to free so many bytes, at most {@link #bytes}. */
  int countFor(long wantedBytes) {
    int count = 0;
    Place place = null;
    for (long missing = wantedBytes; missing > 0; count++) {
      place = next(place);
      missing -= place.window.bytes();
    }
    return count;
  }

  /** The bytes of so many that are evicted next. */
  long bytesOf(int count) {
    long sum = 0;
    Place place = null;
    for (int i = 0; i < count; i++) {
      place = next(place);
      sum += place.window.bytes();
    }
    return sum;
  }

  long bytes() {
    return bytes;
  }
}
