package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import java.util.function.Predicate;

/** All connections of a layer, from the queue pair's making to its end. Progress thread only. */
final class LiveConnections {
  /** A connection as seen from here, and its place in the list: adding it allocates nothing. */
  abstract static class Connection {
    private Connection before;
    private Connection after;
    private boolean listed;

    /** Since when nothing was asked or read on it; keep-alives do not count. */
    abstract long idleSinceNs();

    /** Whether it is established and nothing is unanswered on it. */
    abstract boolean isIdle();

    /** Whether it belongs to that sharer's part of the connections. */
    boolean isOf(Object sharer) {
      return false;
    }

    /** Also takes up an end that an Error has left half done. */
    public abstract void close(TransportException cause);
  }

  private Connection newest;
  private int size;

  void add(Connection connection) {
    connection.before = newest;
    connection.after = null;
    connection.listed = true;
    if (newest != null) {
      newest.after = connection;
    }
    newest = connection;
    size++;
  }

  /** Idempotent. */
  void remove(Connection connection) {
    if (!connection.listed) {
      return;
    }
    connection.listed = false;
    if (connection.before != null) {
      connection.before.after = connection.after;
    }
    if (connection.after != null) {
      connection.after.before = connection.before;
    } else {
      newest = connection.before;
    }
    size--;
  }

  int size() {
    return size;
  }

  /** Each of them, whatever the others throw; the last failure is thrown in the end. */
  void closeAll(TransportException cause) {
    RuntimeException exception = null;
    Error error = null;
    for (Connection connection = newest; connection != null; ) {
      Connection next = connection.before; // its end may take it out of the list
      try {
        connection.close(cause);
      } catch (RuntimeException e) {
        exception = e;
      } catch (Error e) {
        error = e;
      }
      connection = next;
    }
    if (error != null) {
      throw error;
    }
    if (exception != null) {
      throw exception;
    }
  }

  /**
   * Closes the one that has been idle for the longest, to make room for another. Young ones never:
   * more peers than connections would make them chase each other.
   */
  void closeOldestIdle(Predicate<Connection> candidates, long nowNs, long minimumIdleNs) {
    Connection oldest = null;
    for (Connection candidate = newest; candidate != null; candidate = candidate.before) {
      boolean old =
          candidate.isIdle()
              && candidates.test(candidate)
              && nowNs - candidate.idleSinceNs() >= minimumIdleNs;
      if (old && (oldest == null || candidate.idleSinceNs() - oldest.idleSinceNs() <= 0)) {
        oldest = candidate;
      }
    }
    if (oldest != null) {
      oldest.close(new TransportException(Kind.RETRY, "closed as idle to make room for another"));
    }
  }
}
