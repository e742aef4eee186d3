package io.rdmashuffle.transport.verbs;

import io.rdmashuffle.transport.TransportException;

/** A verbs or connection manager call failed. Carries the errno, 0 where there is none. */
public final class VerbsException extends TransportException {
  private static final long serialVersionUID = 1L;
  private final int errno;

  public VerbsException(Kind kind, String message, int errno) {
    super(kind, message);
    this.errno = errno;
  }

  public VerbsException(Kind kind, String message, Throwable cause) {
    super(kind, message, cause);
    this.errno = 0;
  }

  public int errno() {
    return errno;
  }
}
