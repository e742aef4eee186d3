package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** All connections of a layer, from the queue pair's making to its end. Progress thread only. */
final class LiveConnections {
  /** A connection as seen from here. */
  interface Connection {
    /** Since when nothing was asked or read on it; keep-alives do not count. */
    long idleSinceNs();

    /** Whether it is established and nothing is unanswered on it. */
    boolean isIdle();

    /** Whether it belongs to that sharer's part of the connections. */
    default boolean isOf(Object sharer) {
      return false;
    }

    void close(TransportException cause);
  }

  private final Set<Connection> all = new LinkedHashSet<>();

  void add(Connection connection) {
    all.add(connection);
  }

  void remove(Connection connection) {
    all.remove(connection);
  }

  int size() {
    return all.size();
  }

  void closeAll(TransportException cause) {
    List.copyOf(all).forEach(c -> c.close(cause));
  }

  /**
   * Closes the one that has been idle for the longest, to make room for another. Young ones never:
   * more peers than connections would make them chase each other.
   */
  void closeOldestIdle(Predicate<Connection> candidates, long nowNs, long minimumIdleNs) {
    Connection oldest = null;
    for (Connection candidate : all) {
      boolean old =
          candidate.isIdle()
              && candidates.test(candidate)
              && nowNs - candidate.idleSinceNs() >= minimumIdleNs;
      if (old && (oldest == null || candidate.idleSinceNs() - oldest.idleSinceNs() < 0)) {
        oldest = candidate;
      }
    }
    if (oldest != null) {
      oldest.close(new TransportException(Kind.RETRY, "closed as idle to make room for another"));
    }
  }
}
