package io.rdmashuffle.transport;

/** Everything the transport counts. Declared in one place, with the name users see. */
public enum Counter {
  BLOCKS_READ("blocks.read"),
  BYTES_READ("bytes.read"),
  BLOCKS_INLINE("blocks.inline"),
  BYTES_INLINE("bytes.inline"),
  BLOCKS_STAGED("blocks.staged"),
  BYTES_STAGED("bytes.staged"),
  BLOCKS_COPIED_OUT("blocks.copied-out"),
  BLOCKS_LOST("blocks.lost"),
  READS_POSTED("reads.posted"),
  READS_FAILED("reads.failed"),
  CONNECTIONS_OPENED("connections.opened"),
  CONNECTIONS_REFUSED("connections.refused"),
  CONNECTIONS_FAILED("connections.failed"),
  CONNECTIONS_LIVE("connections.live"),
  FRAMES_REJECTED("frames.rejected"),
  OWNER_BLOCKS_WINDOW("owner.blocks.window"),
  OWNER_BLOCKS_STAGED("owner.blocks.staged"),
  OWNER_BLOCKS_INLINE("owner.blocks.inline"),
  OWNER_BLOCKS_REFUSED("owner.blocks.refused"),
  REGISTRATIONS("registrations"),
  REGISTRATIONS_FAILED("registrations.failed"),
  WINDOWS_EVICTED("windows.evicted"),
  LEASES_LIVE("leases.live"),
  LEASES_REVOKED("leases.revoked"),
  LEASES_UNKNOWN("leases.unknown"),
  SESSIONS_EXPIRED("sessions.expired");

  private final String label;

  Counter(String label) {
    this.label = label;
  }

  /** The name in metrics and reports. */
  public String label() {
    return label;
  }
}
