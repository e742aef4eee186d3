package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.ReadChain;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;

/**
 * An authenticated connection to an owner, as the reader sees it.
 *
 * <p><b>Threads:</b> the progress thread only; handlers run there too. <b>Failure:</b> the first
 * failed completion, missed deadline, broken frame or disconnect closes the channel. Then the queue
 * pair is moved to the error state and destroyed, and <em>only after that</em> are the pending
 * handlers told: once a handler hears of a failure, no adapter writes to its buffers any more. If
 * the adapter fails to destroy it, they never are, and only the listener learns of the end.
 */
public interface ReaderChannel {
  /** For messages. */
  String peerName();

  /** Requests that may be sent now; each reply gives one back. 0 once closing. */
  int requestCredits();

  /**
   * Sends a request. The reply must come within the time, else the channel fails.
   *
   * @throws IllegalStateException without a credit
   */
  void request(Request request, long timeoutNs, ReplyHandler handler);

  /** READs that may be posted now. 0 once closing. */
  int readCredits();

  /**
   * Posts a chain of READs. The chain may be reused when this returns.
   *
   * @param timeoutNs until the last completion, else the channel fails
   * @throws IllegalStateException if the chain is longer than {@link #readCredits}
   */
  void read(ReadChain reads, long timeoutNs, ReadHandler handler);

  /** The most recent moment at which a request was sent; for keep-alives. */
  long lastRequestNs();

  /** How often the owner wants to hear from this reader, as its Welcome said. */
  long keepAliveNs();

  /** Closes it for the given cause. Idempotent; the listener's onClosed follows. */
  void close(TransportException cause);

  /** Hears of one reply, exactly one of both. */
  interface ReplyHandler {
    /** Never a {@link Reply.Refused}: that closes the channel. */
    void onReply(Reply reply);

    void onFailed(TransportException cause);
  }

  /** Hears of one chain, exactly one of these. */
  interface ReadHandler {
    void onRead();

    /**
     * The channel is gone, and one READ of this chain is why. Nothing is known of the others.
     *
     * @param read its position in the chain
     */
    default void onRefused(int read, TransportException cause) {
      onFailed(cause);
    }

    void onFailed(TransportException cause);
  }

  /** Hears of the channel's life: onOpen or onDialFailed once, after onOpen onClosed once. */
  interface Listener {
    void onOpen(ReaderChannel channel);

    /**
     * @param cause a {@link ConnectionCapException} if there is no room here or at the owner; of
     *     kind CONFIG if the owner speaks another version; of kind PEER_LOST if it is not there,
     *     takes too long, or does not accept the credential
     */
    void onDialFailed(TransportException cause);

    /**
     * All handlers have been told before. Does not follow {@link #onKept}.
     *
     * @param cause of kind RETRY if nothing was wrong: the connection was not used for long, made
     *     room for another, or this side is stopping
     */
    void onClosed(TransportException cause);

    /**
     * The channel is closed, but the adapter fails to destroy its queue pair: it may write to what
     * was posted for as long as the process lives. The handlers are never told.
     */
    default void onKept(TransportException cause) {
      // Whoever owns memory that was posted keeps it out of use anyway.
    }
  }
}
