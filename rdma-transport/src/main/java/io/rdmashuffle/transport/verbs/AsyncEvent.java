package io.rdmashuffle.transport.verbs;

/**
 * What the adapter reports by itself: ibv_get_async_event(3).
 *
 * @param type what kind, as far as the transport acts on it
 * @param code the number of enum ibv_event_type, for messages
 */
public record AsyncEvent(Type type, int code) {
  /** Grouped by what follows from it. */
  public enum Type {
    /** The port works again. */
    PORT_ACTIVE,
    /** The port lost its link. */
    PORT_DOWN,
    /** The adapter is gone or broken for good. */
    DEVICE_FATAL,
    /** A completion queue overflowed. */
    CQ_ERROR,
    /** A queue pair broke. */
    QP_ERROR,
    /** Nothing the transport acts on. */
    OTHER
  }
}
