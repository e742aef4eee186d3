package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Sessions that answer at once with what the test says, and remember what they heard. */
final class RecordingAcceptor implements OwnerChannel.Acceptor {
  final List<RecordingSession> sessions = new ArrayList<>();

  /** Null: no reply. */
  Function<Request, Reply> answer = RecordingAcceptor::plainAnswer;

  static Reply plainAnswer(Request request) {
    if (request instanceof Request.Locate locate) {
      Reply.Answer empty = new Reply.Inline(0, new byte[0]);
      return new Reply.Located(0, locate.keys().stream().map(k -> empty).toList());
    }
    return new Reply.Released();
  }

  RecordingSession only() {
    if (sessions.size() != 1) {
      throw new AssertionError(sessions.size() + " sessions");
    }
    return sessions.get(0);
  }

  @Override
  public OwnerChannel.Session onOpen(OwnerChannel channel) {
    RecordingSession session = new RecordingSession(channel);
    sessions.add(session);
    return session;
  }

  /** What one session heard. */
  final class RecordingSession implements OwnerChannel.Session {
    final OwnerChannel channel;
    final List<Request> requests = new ArrayList<>();
    final List<Integer> requestIds = new ArrayList<>();
    final List<TransportException> closed = new ArrayList<>();

    RecordingSession(OwnerChannel channel) {
      this.channel = channel;
    }

    @Override
    public void onRequest(int requestId, Request request) {
      requests.add(request);
      requestIds.add(requestId);
      Reply reply = answer.apply(request);
      if (reply != null) {
        channel.reply(requestId, reply);
      }
    }

    @Override
    public void onClosed(TransportException cause) {
      closed.add(cause);
    }
  }
}
