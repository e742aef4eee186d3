package io.rdmashuffle.transport.wire;

import io.rdmashuffle.transport.TransportException;

/** A frame breaks the protocol. The message names what is wrong; the connection is to be closed. */
public final class WireException extends TransportException {
  private static final long serialVersionUID = 1L;

  public WireException(String message) {
    this(message, null);
  }

  public WireException(String message, Throwable cause) {
    super(Kind.BUG, message, cause);
  }
}
