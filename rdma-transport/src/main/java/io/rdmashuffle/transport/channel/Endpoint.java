package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.handover.Errand;
import io.rdmashuffle.transport.handover.Work;
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
 * <p>Operations have numbers: frames to send, frames to receive, then READs. Slow calls of one
 * connection run one at a time, so that none meets a destroyed queue pair.
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
  private final Runnable onDestroyed;
  private final Runnable onKept;
  private final Work forgetId;
  private final Destruction destruction;
  private final ArrayDeque<Errand> slowCalls = new ArrayDeque<>();
  private Errand running;
  private boolean destroying;
  private boolean destroyed;

  /**
   * @param link gone over to this, unless it throws
   * @param onDestroyed told once the queue pair is gone, again if it throws
   * @param onKept told instead if the adapter fails to destroy it
   */
  Endpoint(
      ChannelContext context,
      Link link,
      CompletionSink sink,
      Runnable onDestroyed,
      Runnable onKept) {
    this.context = context;
    this.link = link;
    this.onDestroyed = onDestroyed;
    this.onKept = onKept;
    this.forgetId = Work.of(() -> context.cm().forget(link.id()));
    this.destruction = new Destruction();
    this.slot = context.completions().add(sink);
  }

  Link link() {
    return link;
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
    String text = kind + ", " + peerName + ", " + numbers + ": " + status + flushed;
    return op >= firstRead() && status.isRefusal()
        ? new ReadRefusedException(text)
        : new TransportException(Kind.PEER_LOST, text);
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

  /**
   * Posts READs.
   *
   * @param number of the first; the others follow, and after the last number comes 0
   */
  void read(int number, ReadChain chain) throws VerbsException {
    for (int i = 0; i < chain.size(); i++) {
      chain.stamp(i, wrId(firstRead() + (number + i) % reads()));
    }
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
    if (!destroying) {
      slowCalls.add(new Slow(call, result));
      startNextSlowCall();
    }
  }

  /** The destruction is the last of the slow calls. */
  private void startNextSlowCall() {
    if (running != null) {
      return;
    }
    if (destroying) {
      running = destroyed ? null : destruction;
    } else {
      running = slowCalls.poll();
    }
    if (running != null) {
      context.slowPool().execute(running);
    }
  }

  /**
   * Breaks and destroys the queue pair, then tells the handler. Completions that arrive meanwhile
   * still reach the sink; afterwards none does. May be called again, should an Error have kept it
   * from its end; allocates nothing.
   *
   * <p>Should the adapter fail to destroy it, the handler is never told that it is gone: whoever
   * waits for that holds memory that the adapter may still write to.
   */
  void destroy() {
    destroying = true;
    slowCalls.clear();
    if (destroyed) {
      onDestroyed.run();
    } else {
      startNextSlowCall();
    }
  }

  private void linkClosed() {
    destroyed = true;
    context.completions().remove(slot);
    context.cm().execute(forgetId);
    onDestroyed.run();
  }

  /** One call on its way to the slow pool and back. */
  private final class Slow extends Errand {
    private final SlowCall call;
    private final SlowResult result;

    Slow(SlowCall call, SlowResult result) {
      super(context.loop());
      this.call = call;
      this.result = result;
    }

    @Override
    protected void go() throws VerbsException {
      call.run();
    }

    @Override
    protected void back(Throwable failure) {
      running = null;
      try {
        result.onEnd(asVerbs(failure));
      } finally {
        startNextSlowCall();
      }
    }

    private VerbsException asVerbs(Throwable failure) {
      return failure == null || failure instanceof VerbsException
          ? (VerbsException) failure
          : new VerbsException(Kind.BUG, "a slow call threw", failure);
    }
  }

  /** The last call. */
  private final class Destruction extends Errand {
    Destruction() {
      super(context.loop());
    }

    @Override
    protected void go() {
      link.close();
    }

    @Override
    protected void back(Throwable failure) {
      if (failure instanceof VirtualMachineError) { // no memory for it: the recovery comes again
        running = null;
        context.loop().fail(failure);
      } else if (failure != null) {
        LOG.error(
            "qp 0x{} could not be destroyed; what was posted to it stays out of use",
            Integer.toHexString(link.qp().number()),
            failure);
        onKept.run();
      } else {
        running = null;
        linkClosed();
      }
    }
  }
}
