package io.rdmashuffle.transport.verbs.disni;

import io.rdmashuffle.transport.TransportException;

/** A library that implements verbs could not be loaded, or is not what it should be. */
public final class MissingLibraryException extends TransportException {
  private static final long serialVersionUID = 1L;

  public MissingLibraryException(String message) {
    super(Kind.CONFIG, message);
  }
}
