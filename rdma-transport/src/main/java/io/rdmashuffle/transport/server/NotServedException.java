package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.FallbackReason;

/** A block, or a file, that cannot come by RDMA; the reader is told the reason. */
final class NotServedException extends Exception {
  private static final long serialVersionUID = 1L;
  private final FallbackReason reason;

  NotServedException(FallbackReason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  FallbackReason reason() {
    return reason;
  }
}
