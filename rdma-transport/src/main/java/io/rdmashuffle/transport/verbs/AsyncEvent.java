package io.rdmashuffle.transport.verbs;

/**
 * What the adapter reports by itself: ibv_get_async_event(3), and its removal, of which
 * rdma_get_cm_event(3) tells.
 *
 * @param type what kind, as far as the transport acts on it
 * @param code the number of enum ibv_event_type, or rdma_cm_event_type for a removal, for messages
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
    /** The adapter is being taken away; the kernel may wait for those who have it open. */
    DEVICE_REMOVED,
    /** A completion queue overflowed. */
    CQ_ERROR,
    /** A queue pair broke. */
    QP_ERROR,
    /** Nothing the transport acts on. */
    OTHER
  }

  /** Whether nothing that was made from the device will work again. */
  public boolean isFinal() {
    return type == Type.DEVICE_FATAL || type == Type.DEVICE_REMOVED || type == Type.CQ_ERROR;
  }
}
