package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.WireCodec;
import java.util.ArrayDeque;

/**
 * The requests that an owner still owes a reply, and the replies on their way. A reply may have to
 * wait for a frame: its reader can have got an earlier one, and asked anew, before the adapter here
 * says that it is done with that frame. Progress thread only.
 */
final class ReplyQueue {
  private record Waiting(int requestId, Reply reply) {}

  private final Endpoint endpoint;
  private final WireCodec codec;
  private final int[] unanswered;
  private final FreeList freeFrames;
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private int unansweredCount;

  ReplyQueue(Endpoint endpoint, WireCodec codec) {
    this.endpoint = endpoint;
    this.codec = codec;
    unanswered = new int[endpoint.requests()];
    freeFrames = new FreeList(0, endpoint.requests());
  }

  /** Returns false if the reader asks more than it may, or anew under the same id. */
  boolean expect(int requestId) {
    if (unansweredCount == unanswered.length || indexOf(requestId) >= 0) {
      return false;
    }
    unanswered[unansweredCount++] = requestId;
    return true;
  }

  /** Whether nothing is owed and nothing is on its way. */
  boolean isIdle() {
    return unansweredCount == 0 && freeFrames.isFull();
  }

  int unanswered() {
    return unansweredCount;
  }

  /**
   * @throws IllegalStateException if no such request waits for a reply
   * @throws IllegalArgumentException if the reply does not fit a frame
   */
  void reply(int requestId, Reply reply) throws VerbsException {
    int index = indexOf(requestId);
    if (index < 0) {
      throw new IllegalStateException("request " + requestId + " is unknown or answered before");
    }
    unanswered[index] = unanswered[--unansweredCount];
    if (freeFrames.isEmpty()) {
      waiting.add(new Waiting(requestId, reply));
    } else {
      send(requestId, reply);
    }
  }

  /** The adapter is done with a frame. */
  void sent(int frame) throws VerbsException {
    freeFrames.put(frame);
    Waiting next = waiting.poll();
    if (next != null) {
      send(next.requestId, next.reply);
    }
  }

  private void send(int requestId, Reply reply) throws VerbsException {
    int frame = freeFrames.take();
    int bytes;
    try {
      bytes = codec.encode(requestId, reply, endpoint.buffer(frame));
    } catch (IllegalArgumentException e) {
      freeFrames.put(frame);
      throw e;
    }
    endpoint.send(frame, bytes);
  }

  private int indexOf(int requestId) {
    for (int i = 0; i < unansweredCount; i++) {
      if (unanswered[i] == requestId) {
        return i;
      }
    }
    return -1;
  }
}
