package io.rdmashuffle.transport;

import java.io.IOException;

/**
 * A failure of the RDMA path. It never means that data is lost: the caller takes the engine's own
 * shuffle instead.
 *
 * <p>The message states the call, the peer, the numbers, and errno or work completion status. It is
 * logged once, where the failure is decided, not where it is thrown.
 */
public class TransportException extends IOException {
  private static final long serialVersionUID = 1L;

  /** What a caller can do about it. */
  public enum Kind {
    /** Momentary: no memory, no credit, no room. The same request may succeed later. */
    RETRY,
    /** The connection or the process behind it is gone. Connect again after a pause. */
    PEER_LOST,
    /** Settings, libraries, limits or rights of this host. It stays until somebody changes them. */
    CONFIG,
    /** A broken promise of this code or of the peer's. */
    BUG
  }

  private final Kind kind;

  public TransportException(Kind kind, String message) {
    this(kind, message, null);
  }

  public TransportException(Kind kind, String message, Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public final Kind kind() {
    return kind;
  }
}
