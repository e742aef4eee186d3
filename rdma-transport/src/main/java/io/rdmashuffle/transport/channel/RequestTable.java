package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ReaderChannel.ReplyHandler;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireException;

/**
 * The requests of one connection that are not over. A slot is a request's frame; it is free again
 * when the reply is here and the adapter is done with the frame, whichever comes last.
 *
 * <p>A request id is 16 bits of generation and 16 of slot: a reply to an earlier request of the
 * slot is recognised. Progress thread only.
 */
final class RequestTable {
  private final FreeList freeSlots;
  private final Request[] requests; // null: answered
  private final ReplyHandler[] handlers;
  private final long[] deadlinesNs;
  private final boolean[] sending;
  private final short[] generations;

  RequestTable(int slots) {
    freeSlots = new FreeList(0, slots);
    requests = new Request[slots];
    handlers = new ReplyHandler[slots];
    deadlinesNs = new long[slots];
    sending = new boolean[slots];
    generations = new short[slots];
  }

  int free() {
    return freeSlots.size();
  }

  boolean isEmpty() {
    return freeSlots.isFull();
  }

  /** Takes a slot for a request that is about to be sent. */
  int take(Request request, long deadlineNs, ReplyHandler handler) {
    int slot = freeSlots.take();
    requests[slot] = request;
    handlers[slot] = handler;
    deadlinesNs[slot] = deadlineNs;
    sending[slot] = true;
    return slot;
  }

  /** Undoes {@link #take} of a request that could not be encoded. */
  void putBack(int slot) {
    sending[slot] = false;
    end(slot);
  }

  int requestId(int slot) {
    return generations[slot] << 16 | slot;
  }

  /** The adapter is done with the frame. */
  void sent(int slot) {
    sending[slot] = false;
    if (requests[slot] == null) {
      free(slot);
    }
  }

  /**
   * Ends a request.
   *
   * @return whom to tell
   * @throws WireException if nobody asked for this reply
   */
  ReplyHandler answered(int requestId, Reply reply) throws WireException {
    int slot = requestId & 0xffff;
    if (slot >= requests.length || requests[slot] == null || requestId(slot) != requestId) {
      throw new WireException(
          "reply to request 0x" + Integer.toHexString(requestId) + ", which is not open");
    }
    check(requests[slot], reply);
    ReplyHandler handler = handlers[slot];
    end(slot);
    return handler;
  }

  /** The owner is not trusted to answer the question that was asked. */
  private static void check(Request request, Reply reply) throws WireException {
    boolean fits = reply instanceof Reply.Refused;
    if (request instanceof Request.Locate locate) {
      fits |= reply instanceof Reply.Located l && l.answers().size() <= locate.keys().size();
    } else if (request instanceof Request.Release) {
      fits |= reply instanceof Reply.Released;
    } else if (request instanceof Request.Hello) {
      fits |= reply instanceof Reply.Challenge;
    } else if (request instanceof Request.Prove) {
      fits |= reply instanceof Reply.Welcome;
    }
    if (!fits) {
      throw new WireException(
          reply.getClass().getSimpleName()
              + " does not answer "
              + request.getClass().getSimpleName());
    }
  }

  private void end(int slot) {
    requests[slot] = null;
    handlers[slot] = null;
    if (!sending[slot]) {
      free(slot);
    }
  }

  private void free(int slot) {
    generations[slot]++;
    freeSlots.put(slot);
  }

  /** Time until the first deadline, {@link Long#MAX_VALUE} if there is none. */
  long remainingNs(long nowNs) {
    long least = Long.MAX_VALUE;
    for (int slot = 0; slot < requests.length; slot++) {
      if (requests[slot] != null) {
        least = Math.min(least, deadlinesNs[slot] - nowNs);
      }
    }
    return least;
  }

  /** Tells all that wait; the others again, should one throw. The queue pair is gone. */
  void failAll(TransportException cause) {
    for (int slot = 0; slot < requests.length; slot++) {
      ReplyHandler handler = handlers[slot];
      requests[slot] = null;
      handlers[slot] = null;
      if (handler != null) {
        handler.onFailed(cause);
      }
    }
  }
}
