package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.core.adapter.AdapterState.Outlook;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.PeerTransport;

/** Whether this process has RDMA. */
public sealed interface Availability {
  /** It has; the runtime owns the transport. */
  record Open(PeerTransport transport) implements Availability {}

  /**
   * It has not, or not yet, or no longer.
   *
   * @param reason under which its blocks are counted
   * @param text why, and what to do about it
   * @param outlook whether it will have none for good
   */
  record Absent(FallbackReason reason, String text, Outlook outlook) implements Availability {
    /** For the life of this process. */
    public static Absent forGood(FallbackReason reason, String text) {
      return new Absent(reason, text, Outlook.NEVER);
    }
  }
}
