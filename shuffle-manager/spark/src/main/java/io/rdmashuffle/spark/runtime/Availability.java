package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.transport.FallbackReason;

/** Whether this process has RDMA. */
public sealed interface Availability {
  /** It has; the runtime owns the transport. */
  record Open(OpenedTransport transport) implements Availability {}

  /**
   * It has not, or not yet, or no longer.
   *
   * @param reason under which its blocks are counted
   * @param text why, and what to do about it
   */
  record Absent(FallbackReason reason, String text) implements Availability {}
}
