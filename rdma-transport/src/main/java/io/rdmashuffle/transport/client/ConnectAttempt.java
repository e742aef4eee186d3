package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ConnectionCapException;
import io.rdmashuffle.transport.channel.Dialer.Attempt;
import io.rdmashuffle.transport.channel.Dialer.Target;
import io.rdmashuffle.transport.channel.ProgressLoop.Timer;
import io.rdmashuffle.transport.channel.ReaderChannel;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.handover.Work;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * One try to reach a peer: discovers it, then dials one address after another. Each phase has a
 * deadline; an answer that comes after its phase has ended changes nothing. Progress thread only.
 */
final class ConnectAttempt {
  /** Readers of a stage all start at once; this much at random spreads what they send. */
  private static final long JITTER_NS = 2_000_000;

  private final ClientContext context;
  private final Peer peer;
  private final DialGate gate;
  private final Listener listener;
  private final Deque<InetSocketAddress> addresses = new ArrayDeque<>();
  private final Consumer<DialGate.Place> dialNext = this::dialNext;
  private final Question question = new Question();
  private Invitation.Ticket ticket;
  private Timer timer;
  private long deadlineNs;
  private Dial current;
  private TransportException lastFailure;

  ConnectAttempt(ClientContext context, Peer peer, DialGate gate, Listener listener) {
    this.context = context;
    this.peer = peer;
    this.gate = gate;
    this.listener = listener;
  }

  void start() {
    long timeoutNs = context.settings().discoveryTimeout().toNanos();
    timer =
        context
            .loop()
            .schedule(
                timeoutNs,
                () -> discoveryFailed("no answer for " + timeoutNs / 1_000_000 + " ms", null));
    discover();
  }

  /** Ends it; the listener hears nothing more. */
  void abandon() {
    if (!question.isOver()) {
      end();
      gate.cancel(dialNext);
      if (current != null) {
        current.abandon();
      }
    }
  }

  /** The answer comes on any thread, or is given up. */
  private void discover() {
    Answer node = new Answer();
    CompletableFuture<Invitation> answer;
    try {
      answer = context.parts().discovery().discover(peer);
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    question.asked(answer);
    CompletableFuture<?> unused = answer.whenComplete(node::arrived);
  }

  private void discovered(Invitation invitation, Throwable failure) {
    if (question.isOver()) {
      return; // too late
    }
    if (invitation instanceof Invitation.None none) {
      end();
      listener.hasNoRdma(none);
    } else if (invitation instanceof Invitation.NotYet notYet) {
      end();
      listener.isNotReady(notYet);
    } else if (invitation instanceof Invitation.Ticket found && !found.addresses().isEmpty()) {
      connect(found);
    } else {
      discoveryFailed(failure == null ? "it names no address" : "it could not be asked", failure);
    }
  }

  private void discoveryFailed(String why, Throwable cause) {
    fail(
        FallbackReason.DISCOVERY_FAILED,
        new TransportException(Kind.PEER_LOST, "discovery of " + peer + ": " + why, cause));
  }

  private void connect(Invitation.Ticket found) {
    ticket = found;
    addresses.addAll(found.addresses());
    deadlineNs = context.loop().nowNs() + context.connectTimeoutNs();
    setTimer(context.parts().random().nextLong(JITTER_NS), this::queue);
  }

  private void queue() {
    setTimer(deadlineNs - context.loop().nowNs(), this::queuedTooLong);
    gate.enter(dialNext);
  }

  private void queuedTooLong() {
    gate.cancel(dialNext);
    TransportException cause =
        lastFailure != null
            ? lastFailure
            : new ConnectionCapException("too many dials are under way to dial " + peer);
    fail(reasonOf(cause), cause);
  }

  /** Its turn at the gate has come. What time is left is shared among the addresses left. */
  private void dialNext(DialGate.Place place) {
    long leftNs = Math.max(0, deadlineNs - context.loop().nowNs());
    long shareNs = leftNs / addresses.size();
    InetSocketAddress address = addresses.poll();
    Target target = new Target(peer.toString(), address, ticket.credentialId(), ticket.secret());
    Dial dial = new Dial(place);
    setTimer(shareNs, () -> dial.timeOver(address, shareNs));
    current = dial;
    context.outstanding().begin();
    try {
      dial.begin(context.parts().dialer().dial(target, dial));
    } catch (RuntimeException | Error e) {
      try {
        String text = "dialling " + peer + " at " + address + " failed unexpectedly";
        dial.onDialFailed(new TransportException(Kind.BUG, text + ": " + e, e));
      } finally {
        dial.hear();
      }
    }
  }

  private void dialFailed(TransportException cause) {
    current = null;
    lastFailure = cause;
    if (addresses.isEmpty() || context.loop().nowNs() - deadlineNs >= 0) {
      fail(reasonOf(cause), cause);
    } else {
      queue();
    }
  }

  private static FallbackReason reasonOf(TransportException cause) {
    return cause instanceof ConnectionCapException
        ? FallbackReason.CONNECTION_CAP
        : FallbackReason.CONNECT_FAILED;
  }

  private void fail(FallbackReason reason, TransportException cause) {
    end();
    listener.failed(reason, cause);
  }

  private void end() {
    question.end();
    setTimer(0, null);
  }

  private void setTimer(long delayNs, Runnable task) {
    if (timer != null) {
      timer.cancel();
    }
    timer = task == null ? null : context.loop().schedule(delayNs, task);
  }

  /** The answer on its way to the progress thread. */
  private final class Answer extends Work {
    private Invitation invitation;
    private Throwable failure;

    void arrived(Invitation answered, Throwable failed) {
      invitation = answered;
      failure = failed;
      context.loop().execute(this);
    }

    @Override
    protected void run() {
      discovered(invitation, failure);
    }

    @Override
    protected void abandoned(Throwable why) {
      // The loop has ended, and all attempts before it.
    }
  }

  /** What the peer is asked; over when the attempt is. Any thread. */
  private static final class Question {
    private volatile CompletableFuture<Invitation> answer;
    private volatile boolean over;

    void asked(CompletableFuture<Invitation> future) {
      answer = future;
      if (over) {
        future.cancel(false);
      }
    }

    /** Changes nothing about a question that was answered. */
    void end() {
      over = true;
      if (answer != null) {
        answer.cancel(false);
      }
    }

    boolean isOver() {
      return over;
    }
  }

  /** Hears the outcome: one of the first four, once; closed after opened. */
  interface Listener {
    /** The result is told to {@link #closed}. */
    Session opened(ReaderChannel channel);

    /** Follows {@link #opened} at once. */
    void begin(Session opened);

    void hasNoRdma(Invitation.None answer);

    void isNotReady(Invitation.NotYet answer);

    void failed(FallbackReason reason, TransportException cause);

    void closed(Session session, TransportException cause);

    /** As {@link ReaderChannel.Listener#onKept}: {@link #closed} does not follow. */
    void kept(Session session, TransportException cause);
  }

  /** One address being dialled. */
  private final class Dial implements ReaderChannel.Listener {
    private final DialGate.Place place;
    private Attempt attempt;
    private Session session;
    private TransportException timeOut;
    private boolean heard;

    Dial(DialGate.Place place) {
      this.place = place;
    }

    void begin(Attempt dialled) {
      attempt = dialled;
    }

    void timeOver(InetSocketAddress address, long afterNs) {
      String text = peer + " did not accept at " + address + " in " + afterNs / 1_000_000 + " ms";
      timeOut = new TransportException(Kind.PEER_LOST, text);
      abandon();
    }

    void abandon() {
      if (!heard && attempt != null) {
        attempt.abandon();
      }
    }

    @Override
    public void onOpen(ReaderChannel channel) {
      boolean isLate = heard || question.isOver();
      hear();
      if (isLate) {
        channel.close(new TransportException(Kind.RETRY, "connected to " + peer + " too late"));
      } else {
        end();
        session = listener.opened(channel);
        listener.begin(session);
      }
    }

    @Override
    public void onDialFailed(TransportException cause) {
      boolean isLate = heard || question.isOver();
      hear();
      if (!isLate) {
        dialFailed(timeOut == null ? cause : timeOut);
      }
    }

    @Override
    public void onClosed(TransportException cause) {
      if (session != null) {
        listener.closed(session, cause);
      }
    }

    @Override
    public void onKept(TransportException cause) {
      if (session != null) {
        listener.kept(session, cause);
      }
    }

    /** It is over, however it ended. Idempotent. */
    private void hear() {
      if (!heard) {
        heard = true;
        context.outstanding().end();
        place.close();
      }
    }
  }
}
