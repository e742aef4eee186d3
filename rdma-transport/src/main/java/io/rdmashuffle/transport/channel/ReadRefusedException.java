package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;

/**
 * One READ was refused, and broke its queue pair: its key or its range is not, or not any more,
 * what the peer allows. The peer answered, so a new connection is worth a try. {@link
 * ReaderChannel.ReadHandler#onRefused} tells which READ it was.
 */
public final class ReadRefusedException extends TransportException {
  private static final long serialVersionUID = 1L;

  public ReadRefusedException(String message) {
    super(Kind.PEER_LOST, message);
  }
}
