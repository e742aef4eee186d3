package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;

/**
 * An authenticated connection from a reader, as the owner sees it.
 *
 * <p><b>Threads:</b> the progress thread only; the session's methods are called there too.
 */
public interface OwnerChannel {
  /** For messages. */
  String peerName();

  /** The reader's address without its port: one for all processes of a host. */
  String peerHost();

  /** Requests that the reader may have unanswered. */
  int requests();

  /** Under which the reader connected; the scope that catalogs are asked with. */
  long credentialId();

  /** The domain in which whatever this reader may READ must be registered. */
  ProtectionDomain domain();

  /**
   * Answers a request, at once or later. Dropped silently if the channel has closed meanwhile.
   *
   * @param requestId as given to {@link Session#onRequest}
   */
  void reply(int requestId, Reply reply);

  /**
   * Answers a request with the reason why the reader is served no more, then closes the channel.
   * Further requests are ignored.
   *
   * @param requestId as given to {@link Session#onRequest}
   * @param text for the reader's log
   */
  void refuse(int requestId, String text);

  /**
   * Moves the queue pair to the error state and destroys it; after {@link Session#onClosed} the
   * reader can READ nothing any more. Idempotent.
   */
  void close(TransportException cause);

  /** Serves one reader. */
  interface Session {
    /**
     * Only {@link Request.Locate} and {@link Request.Release} arrive here. Each must be answered
     * exactly once.
     */
    void onRequest(int requestId, Request request);

    /** The queue pair is destroyed: leases can end. Called again if it throws. */
    void onClosed(TransportException cause);
  }

  /** Makes a session for each reader that proved itself. */
  interface Acceptor {
    Session onOpen(OwnerChannel channel);
  }
}
