package io.rdmashuffle.transport.verbs;

/**
 * The limits of an adapter that the transport heeds: ibv_query_device(3).
 *
 * @param maxQp queue pairs
 * @param maxQpWr outstanding work requests of one queue
 * @param maxCqe entries of one completion queue
 * @param maxMr memory regions
 * @param maxMrBytes length of one region
 * @param maxSge scatter elements of one request
 * @param maxReadsAsTarget READs a queue pair may serve at a time (max_qp_rd_atom)
 * @param maxReadsAsInitiator READs a queue pair may have in flight (max_qp_init_rd_atom)
 * @param iwarp whether the port speaks iWARP: the sink of a READ then needs remote write rights
 *     (RFC 5040, section 5.2), and the active side must send first (RFC 5044, section 7)
 */
public record DeviceAttributes(
    int maxQp,
    int maxQpWr,
    int maxCqe,
    int maxMr,
    long maxMrBytes,
    int maxSge,
    int maxReadsAsTarget,
    int maxReadsAsInitiator,
    boolean iwarp) {}
