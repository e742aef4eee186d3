package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import java.io.IOException;

/** A segment, or all of a host, that RDMA does not deliver after all. HTTP serves it. */
public final class SegmentLostException extends IOException {
  private static final long serialVersionUID = 1L;
  private final FallbackReason reason;

  SegmentLostException(FallbackReason reason, String message) {
    super(message);
    this.reason = reason;
  }

  /** Why. */
  public FallbackReason reason() {
    return reason;
  }
}
