package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.verbs.VerbsException;
import io.rdmashuffle.transport.verbs.WcStatus;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a connection as far as both ends are alike: it numbers the operations, posts them, and
 * takes the queue pair down.
 *
 * <p>Operations have numbers: frames to send, frames to receive, then chains of READs. Slow calls
 * of one connection run one at a time, so that none meets a destroyed queue pair.
 *
 * <p><b>Threads:</b> the progress thread.
 */
final class Endpoint {
  private static final Logger LOG = LoggerFactory.getLogger(Endpoint.class);

  /** A call that may wait for the adapter. */
  interface SlowCall {
    void run() throws VerbsException;
  }

  /** Hears of a slow call's end. */
  interface SlowResult {
    /**
     * @param failure null if there was none
     */
    void onEnd(VerbsException failure);
  }

  private final ChannelContext context;
  private final Link link;
  private final int slot;
  private final ArrayDeque<Runnable> slowCalls = new ArrayDeque<>();
  private boolean slowCallRuns;
  private Runnable afterDestroyed;

  Endpoint(ChannelContext context, Link link, CompletionSink sink) {
    this.context = context;
    this.link = link;
    this.slot = context.completions().add(sink);
  }

  // ---- operations

  int requests() {
    return link.shape().requests();
  }

  int reads() {
    return link.shape().reads();
  }

  boolean isSend(int op) {
    return op < requests();
  }

  boolean isReceive(int op) {
    return op >= requests() && op < 2 * requests();
  }

  int firstReceive() {
    return requests();
  }

  int firstRead() {
    return 2 * requests();
  }

  /** What a failed work completion means. */
  TransportException failure(int op, WcStatus status, int vendorError, String peerName) {
    String kind = isSend(op) ? "SEND" : isReceive(op) ? "RECV" : "READ";
    String numbers =
        String.format(Locale.ROOT, "qp 0x%x, vendor error 0x%x", link.qp().number(), vendorError);
    String flushed =
        status == WcStatus.WR_FLUSH_ERR ? ": the connection ended before it was done" : "";
    return new TransportException(
        Kind.PEER_LOST, kind + ", " + peerName + ", " + numbers + ": " + status + flushed);
  }

  ByteBuffer buffer(int frame) {
    return link.frames().buffer(frame);
  }

  void receive(int op) throws VerbsException {
    Frames frames = link.frames();
    link.qp().postReceive(wrId(op), frames.address(op), buffer(op).capacity(), frames.lkey());
  }

  void send(int op, int bytes) throws VerbsException {
    Frames frames = link.frames();
    link.qp().postSend(wrId(op), frames.address(op), bytes, frames.lkey());
  }

  void read(int op, ReadChain chain) throws VerbsException {
    chain.stampAll(wrId(op));
    link.qp().postReads(chain);
  }

  private long wrId(int op) {
    return context.completions().wrId(slot, op);
  }

  // ---- slow calls

  /**
   * Runs it on the slow pool after those before it, then tells the result here, also if the end has
   * come meanwhile. What has not begun by then is dropped.
   */
  void callSlowly(SlowCall call, SlowResult result) {
    if (afterDestroyed == null) {
      slowCalls.add(() -> runSlowly(call, result));
      startNextSlowCall();
    }
  }

  /** The destruction is the last of the slow calls. */
  private void startNextSlowCall() {
    if (!slowCallRuns && !slowCalls.isEmpty()) {
      slowCallRuns = true;
      context.slowPool().execute(slowCalls.poll());
    }
  }

  private void runSlowly(SlowCall call, SlowResult result) {
    VerbsException failure = null;
    try {
      call.run();
    } catch (VerbsException e) {
      failure = e;
    } catch (RuntimeException e) { // nobody may wait for a result for ever
      failure = new VerbsException(Kind.BUG, "a slow call threw", e);
    }
    VerbsException outcome = failure;
    context.loop().execute(() -> slowCallEnded(result, outcome));
  }

  private void slowCallEnded(SlowResult result, VerbsException failure) {
    slowCallRuns = false;
    try {
      result.onEnd(failure);
    } finally {
      startNextSlowCall();
    }
  }

  /**
   * Breaks and destroys the queue pair, then runs {@code then} here. Completions that arrive
   * meanwhile still reach the sink; afterwards none does. Once.
   *
   * <p>Should the adapter fail to destroy it, {@code then} never runs: whoever waits for it holds
   * memory that the adapter may still write to.
   */
  void destroy(Runnable then) {
    if (afterDestroyed != null) {
      throw new IllegalStateException("destroyed twice");
    }
    afterDestroyed = then;
    slowCalls.clear();
    slowCalls.add(this::closeLink);
    startNextSlowCall();
  }

  private void closeLink() {
    try {
      link.close();
    } catch (RuntimeException e) {
      LOG.error(
          "qp 0x{} could not be destroyed; what was posted to it stays out of use",
          Integer.toHexString(link.qp().number()),
          e);
      return;
    }
    context.loop().execute(this::linkClosed);
  }

  private void linkClosed() {
    context.completions().remove(slot);
    context.forgetId().accept(link.id());
    afterDestroyed.run();
  }
}
