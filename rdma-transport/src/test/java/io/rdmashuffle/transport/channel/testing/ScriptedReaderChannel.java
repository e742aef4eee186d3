package io.rdmashuffle.transport.channel.testing;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ReadRefusedException;
import io.rdmashuffle.transport.channel.ReaderChannel;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.util.ArrayList;
import java.util.List;

/**
 * A reader's channel whose owner is the test: it records requests and READs, and the test answers
 * or fails them. Checks the promises that callers make (credits) and keeps those it makes: handlers
 * hear of a failure only when the test says that the queue pair is gone, each once, then onClosed.
 */
public final class ScriptedReaderChannel implements ReaderChannel {
  private final ManualLoop loop;
  private final Listener listener;
  private final List<PendingRequest> requests = new ArrayList<>();
  private final List<PendingRead> reads = new ArrayList<>();
  private int requestCredits = 16;
  private int readCredits = 128;
  private long lastRequestNs;
  private TransportException cause;
  private boolean closed;

  /** The listener's onOpen is the test's to call, or use {@link #open}. */
  public ScriptedReaderChannel(ManualLoop loop, Listener listener) {
    this.loop = loop;
    this.listener = listener;
    lastRequestNs = loop.nowNs();
  }

  /** Tells the listener that the channel is open. */
  public ScriptedReaderChannel open() {
    listener.onOpen(this);
    return this;
  }

  public ScriptedReaderChannel withRequestCredits(int credits) {
    requestCredits = credits;
    return this;
  }

  public ScriptedReaderChannel withReadCredits(int credits) {
    readCredits = credits;
    return this;
  }

  /** Requests without an answer, oldest first. */
  public List<PendingRequest> requests() {
    return List.copyOf(requests);
  }

  /** Chains of READs without an end, oldest first. */
  public List<PendingRead> reads() {
    return List.copyOf(reads);
  }

  /** Why it was closed, null if it was not. */
  public TransportException closeCause() {
    return cause;
  }

  /** The adapter, the peer or a deadline breaks the channel. The queue pair still exists. */
  public void fail(TransportException failure) {
    if (cause == null) {
      cause = failure;
    }
  }

  /** The queue pair is destroyed: tells every pending handler, then the listener. */
  public void finishClose() {
    if (cause == null || closed) {
      throw new IllegalStateException("not closing");
    }
    closed = true;
    List<PendingRequest> unanswered = List.copyOf(requests);
    List<PendingRead> unread = List.copyOf(reads);
    requests.clear();
    reads.clear();
    unanswered.forEach(r -> r.handler.onFailed(cause));
    unread.forEach(PendingRead::end);
    listener.onClosed(cause);
  }

  @Override
  public String peerName() {
    return "scripted";
  }

  @Override
  public int requestCredits() {
    return cause == null ? requestCredits : 0;
  }

  @Override
  public void request(Request request, long timeoutNs, ReplyHandler handler) {
    if (requestCredits() == 0) {
      throw new IllegalStateException("no request credit");
    }
    requestCredits--;
    lastRequestNs = loop.nowNs();
    requests.add(new PendingRequest(request, timeoutNs, handler));
  }

  @Override
  public int readCredits() {
    return cause == null ? readCredits : 0;
  }

  @Override
  public void read(ReadChain chain, long timeoutNs, ReadHandler handler) {
    if (chain.size() == 0 || chain.size() > readCredits()) {
      throw new IllegalStateException(chain.size() + " READs, credit " + readCredits());
    }
    readCredits -= chain.size();
    List<PostedRead> posted = new ArrayList<>();
    for (int i = 0; i < chain.size(); i++) {
      posted.add(
          new PostedRead(
              chain.remoteAddress(i),
              chain.rkey(i),
              chain.localAddress(i),
              chain.lkey(i),
              chain.bytes(i)));
    }
    reads.add(new PendingRead(posted, timeoutNs, handler));
  }

  @Override
  public long lastRequestNs() {
    return lastRequestNs;
  }

  @Override
  public long keepAliveNs() {
    return 5_000_000_000L;
  }

  @Override
  public void close(TransportException closeCause) {
    fail(closeCause);
  }

  /** One READ as it was posted. */
  public record PostedRead(long remoteAddress, int rkey, long localAddress, int lkey, int bytes) {}

  /** A request that waits for the test's answer. */
  public final class PendingRequest {
    private final Request request;
    private final long timeoutNs;
    private final ReplyHandler handler;

    private PendingRequest(Request request, long timeoutNs, ReplyHandler handler) {
      this.request = request;
      this.timeoutNs = timeoutNs;
      this.handler = handler;
    }

    public Request request() {
      return request;
    }

    public long timeoutNs() {
      return timeoutNs;
    }

    /** Gives the credit back, then tells the handler. */
    public void reply(Reply reply) {
      if (cause != null || !requests.remove(this)) {
        throw new IllegalStateException("closing, or answered before");
      }
      requestCredits++;
      handler.onReply(reply);
    }
  }

  /** A chain that waits for its end. */
  public final class PendingRead {
    private final List<PostedRead> posted;
    private final long timeoutNs;
    private final ReadHandler handler;
    private int refused = -1;

    private PendingRead(List<PostedRead> posted, long timeoutNs, ReadHandler handler) {
      this.posted = posted;
      this.timeoutNs = timeoutNs;
      this.handler = handler;
    }

    public List<PostedRead> posted() {
      return posted;
    }

    public long timeoutNs() {
      return timeoutNs;
    }

    /** Gives the credits back, then tells the handler. */
    public void complete() {
      if (cause != null || !reads.remove(this)) {
        throw new IllegalStateException("closing, or completed before");
      }
      readCredits += posted.size();
      handler.onRead();
    }

    /** The peer does not allow this READ of the chain, which breaks the channel. */
    public void refuse(int read) {
      if (cause == null) {
        refused = read;
        fail(new ReadRefusedException("test: REM_ACCESS_ERR"));
      }
    }

    private void end() {
      if (refused >= 0) {
        handler.onRefused(refused, cause);
      } else {
        handler.onFailed(cause);
      }
    }
  }
}
