package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.TransportException;

/**
 * No room for another connection, here or at the peer. Where an idle connection could be given up
 * for it, that has been started: a later attempt may find room.
 */
public final class ConnectionCapException extends TransportException {
  private static final long serialVersionUID = 1L;

  public ConnectionCapException(String message) {
    super(Kind.RETRY, message);
  }
}
