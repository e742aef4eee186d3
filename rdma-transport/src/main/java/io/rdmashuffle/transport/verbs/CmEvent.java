package io.rdmashuffle.transport.verbs;

/**
 * One connection event: rdma_get_cm_event(3).
 *
 * @param type what happened
 * @param id whom it concerns; for CONNECT_REQUEST a new id, which the receiver accepts or rejects,
 *     and closes
 * @param status 0, a negative errno, or the reason of a rejection (28: by the consumer, 8: nobody
 *     listens there)
 * @param privateData what the peer sent along, padded by the fabric with zeros; never null
 */
public record CmEvent(Type type, CmId id, int status, byte[] privateData) {
  /** In the order of enum rdma_cm_event_type (rdma/rdma_cma.h). */
  public enum Type {
    ADDR_RESOLVED,
    ADDR_ERROR,
    ROUTE_RESOLVED,
    ROUTE_ERROR,
    CONNECT_REQUEST,
    CONNECT_RESPONSE,
    CONNECT_ERROR,
    UNREACHABLE,
    REJECTED,
    ESTABLISHED,
    DISCONNECTED,
    DEVICE_REMOVAL,
    MULTICAST_JOIN,
    MULTICAST_ERROR,
    ADDR_CHANGE,
    TIMEWAIT_EXIT
  }
}
