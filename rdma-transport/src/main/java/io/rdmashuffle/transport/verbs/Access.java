package io.rdmashuffle.transport.verbs;

/** The rights of a region. No region that is exported to peers can be written by them. */
public enum Access {
  /** Source of sends of this process: no rights beyond local reading. */
  LOCAL_READ,
  /** Receives, and sinks of this process's own READs. */
  LOCAL_WRITE,
  /**
   * Sinks of READs on iWARP, where the protocol demands remote write: only in a protection domain
   * used by outbound queue pairs alone.
   */
  LOCAL_AND_REMOTE_WRITE,
  /** What peers may READ and no adapter may write: file windows, staging. The CPU may write it. */
  REMOTE_READ
}
