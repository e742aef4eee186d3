package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import java.io.IOException;

/** A segment, or all of a host, that RDMA does not deliver after all. HTTP serves it. */
public final class SegmentLostException extends IOException {
  private static final long serialVersionUID = 1L;
  private final FallbackReason reason;
  private final boolean toldByTransport;

  /** What this task found. */
  SegmentLostException(FallbackReason reason, String message) {
    this(reason, message, false);
  }

  private SegmentLostException(FallbackReason reason, String message, boolean toldByTransport) {
    super(message);
    this.reason = reason;
    this.toldByTransport = toldByTransport;
  }

  /** What the transport found, and has logged with its cause. */
  static SegmentLostException byTransport(FallbackReason reason, String message) {
    return new SegmentLostException(reason, message, true);
  }

  boolean isToldByTransport() {
    return toldByTransport;
  }

  /** Why. */
  public FallbackReason reason() {
    return reason;
  }
}
