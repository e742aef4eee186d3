package io.rdmashuffle.transport.channel.testing;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.OwnerChannel;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * An owner's channel whose reader is the test: it delivers requests and keeps the replies. Refuses
 * a second answer to one request, and tells the session of the end only when the test says that the
 * queue pair is gone.
 */
public final class ScriptedOwnerChannel implements OwnerChannel {
  /** Requests that a reader may have unanswered. */
  public static final int REQUESTS = 17;

  private final long credentialId;
  private final ProtectionDomain domain;
  private final Map<Integer, Reply> replies = new HashMap<>();
  private final Set<Integer> unanswered = new HashSet<>();
  private Session session;
  private int nextRequestId = 1;
  private TransportException cause;
  private String refusal;
  private boolean closed;
  private Error closeError;

  public ScriptedOwnerChannel(long credentialId, ProtectionDomain domain) {
    this.credentialId = credentialId;
    this.domain = domain;
  }

  /** The reader has proved itself: asks the acceptor for a session. */
  public ScriptedOwnerChannel open(Acceptor acceptor) {
    session = acceptor.onOpen(this);
    return this;
  }

  /** A request arrives. Returns its id. */
  public int deliver(Request request) {
    if (cause != null) {
      throw new IllegalStateException("closing");
    }
    int requestId = nextRequestId++;
    unanswered.add(requestId);
    session.onRequest(requestId, request);
    return requestId;
  }

  /** The answer to a request, null if there is none yet. */
  public Reply replyTo(int requestId) {
    return replies.get(requestId);
  }

  /** Replies so far are not kept any longer. */
  public void forgetReplies() {
    replies.clear();
  }

  /** Why it was closed, null if it was not. */
  public TransportException closeCause() {
    return cause;
  }

  /** The adapter or the reader breaks the channel. The queue pair still exists. */
  public void fail(TransportException failure) {
    if (cause == null) {
      cause = failure;
    }
  }

  /** The queue pair is destroyed: tells the session. */
  public void finishClose() {
    if (cause == null || closed) {
      throw new IllegalStateException("not closing");
    }
    closed = true;
    session.onClosed(cause);
  }

  /** What the reader was told before its connection was closed; null if nothing. */
  public String refusal() {
    return refusal;
  }

  @Override
  public String peerName() {
    return "scripted:1";
  }

  @Override
  public String peerHost() {
    return "scripted";
  }

  @Override
  public int requests() {
    return REQUESTS;
  }

  @Override
  public long credentialId() {
    return credentialId;
  }

  @Override
  public ProtectionDomain domain() {
    return domain;
  }

  @Override
  public void reply(int requestId, Reply reply) {
    if (!unanswered.remove(requestId)) {
      throw new IllegalStateException("request " + requestId + " is unknown or answered before");
    }
    if (cause == null) {
      replies.put(requestId, reply);
    }
  }

  @Override
  public void refuse(int requestId, String text) {
    unanswered.remove(requestId);
    refusal = text;
    fail(new TransportException(TransportException.Kind.PEER_LOST, text));
  }

  /** From now on asking it to close meets this, and it stays open. */
  public ScriptedOwnerChannel breakClose(Error error) {
    closeError = error;
    return this;
  }

  @Override
  public void close(TransportException closeCause) {
    if (closeError != null) {
      throw closeError;
    }
    fail(closeCause);
  }
}
