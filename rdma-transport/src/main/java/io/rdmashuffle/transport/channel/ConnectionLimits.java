package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.DeviceAttributes;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many connections there may be, and how much of the completion queue each may fill: a queue
 * with room for everything that is posted cannot overflow. Of the connections from outside, nobody
 * gets more than half of what the others leave, so that there is always room for another; but two,
 * as one that comes again may come before its old connection is gone.
 *
 * <p><b>Threads:</b> any. A permit is taken before anything is created, and given back after all of
 * it is gone and everybody has been told.
 */
final class ConnectionLimits {
  /** Two MiB of completions; the adapter pins them. */
  private static final int MOST_ENTRIES = 1 << 15;

  private static final int FEWEST_PER_SHARER = 2;

  private final int maxConnections;
  private final int maxEntries;
  private final AtomicInteger connections = new AtomicInteger();
  private final AtomicInteger entries = new AtomicInteger();
  private final Map<Object, Part> bySharer = new ConcurrentHashMap<>();
  private final CompletableFuture<Void> closedAndEmpty = new CompletableFuture<>();
  private volatile String closedReason; // null while open

  private ConnectionLimits(int maxConnections, int maxEntries) {
    this.maxConnections = maxConnections;
    this.maxEntries = maxEntries;
  }

  static ConnectionLimits of(ChannelSettings settings, DeviceAttributes attributes) {
    int connections = Math.min(settings.maxConnections(), attributes.maxQp());
    long wanted = (long) connections * ConnectionShape.ofReader(settings, attributes).entries();
    int most = Math.min(MOST_ENTRIES, attributes.maxCqe());
    return new ConnectionLimits(connections, (int) Math.min(wanted, most));
  }

  /** Room that the completion queue needs. */
  int completionEntries() {
    return maxEntries;
  }

  int inUse() {
    return connections.get();
  }

  /**
   * For a connection from outside. Returns null as {@link #tryAcquire(int)} does.
   *
   * @param sharer whose part it is, and stays until the permit is back
   */
  Permit tryAcquire(int wantedEntries, Object sharer) {
    int capacity = Math.min(maxConnections, maxEntries / wantedEntries);
    Permit permit = new Permit(wantedEntries, sharer);
    permit.part = bySharer.compute(sharer, (key, part) -> Part.oneMore(part));
    int wanted = permit.part.taken.get();
    int left = capacity - (connections.get() - (wanted - 1)); // by the others
    if (wanted > Math.max(FEWEST_PER_SHARER, left / 2)) {
      permit.giveBackPart();
      return null;
    }
    return acquire(permit);
  }

  /** Whether there is room, though perhaps not for everybody. */
  boolean hasRoom() {
    return connections.get() < maxConnections;
  }

  /**
   * For a connection of this process's own. Returns null at the cap, or when closed.
   *
   * @param wantedEntries everything the queue pair can have posted
   */
  Permit tryAcquire(int wantedEntries) {
    return acquire(new Permit(wantedEntries, null));
  }

  private Permit acquire(Permit permit) {
    boolean room = connections.incrementAndGet() <= maxConnections;
    boolean queueRoom = entries.addAndGet(permit.heldEntries) <= maxEntries;
    if (room && queueRoom && closedReason == null) {
      return permit;
    }
    permit.close();
    return null;
  }

  /**
   * Gives no permits any more. Idempotent.
   *
   * @param reason for messages
   * @return completes when those given are back
   */
  CompletableFuture<Void> close(String reason) {
    if (closedReason == null) {
      closedReason = reason;
    }
    completeIfEmpty();
    return closedAndEmpty;
  }

  /** Why there will be no permits any more; null while there are. */
  String closedReason() {
    return closedReason;
  }

  boolean isClosed() {
    return closedReason != null;
  }

  String describe() {
    return connections
        + " of "
        + maxConnections
        + " connections, "
        + entries
        + " of "
        + maxEntries
        + " completion queue entries";
  }

  private void completeIfEmpty() {
    if (closedReason != null && connections.get() == 0) {
      closedAndEmpty.complete(null);
    }
  }

  /** What one sharer has. Ends with the last connection, and is not used again. */
  private static final class Part {
    private final AtomicInteger taken = new AtomicInteger(1);

    /**
     * @param part null if there is none
     */
    static Part oneMore(Part part) {
      return part != null && part.taken.getAndUpdate(n -> n == 0 ? 0 : n + 1) > 0
          ? part
          : new Part();
    }
  }

  /** The right to one connection. */
  final class Permit implements AutoCloseable {
    private final int heldEntries;
    private final Object sharer; // null for a connection of this process's own
    private Part part;
    private final AtomicBoolean returned = new AtomicBoolean();
    private Runnable whenReturned = () -> {};

    private Permit(int heldEntries, Object sharer) {
      this.heldEntries = heldEntries;
      this.sharer = sharer;
    }

    /** Whether it is of that sharer's part. */
    boolean isOf(Object candidate) {
      return candidate.equals(sharer);
    }

    /** Before anybody else gets the permit. */
    void onReturned(Runnable callback) {
      whenReturned = callback;
    }

    /** Allocates nothing. */
    private void giveBackPart() {
      if (part != null && part.taken.decrementAndGet() == 0) {
        bySharer.remove(sharer, part);
      }
    }

    /** Idempotent. Whatever the callback throws, the connection is given back. */
    @Override
    public void close() {
      if (returned.compareAndSet(false, true)) {
        try {
          whenReturned.run();
        } finally {
          entries.addAndGet(-heldEntries);
          giveBackPart();
          connections.decrementAndGet();
          completeIfEmpty();
        }
      }
    }
  }
}
