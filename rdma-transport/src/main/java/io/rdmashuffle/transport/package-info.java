/**
 * Shuffle blocks between processes by one-sided RDMA READ, for any engine that keeps them in files.
 *
 * <p>{@link io.rdmashuffle.transport.Transport} is the way in: it opens and closes all of it.
 * Besides, this package holds what all the others share: errors, time, counters, ownership. The
 * packages below it build on each other in this order: {@code verbs} (the adapter), {@code memory}
 * (registered bytes), {@code wire} (messages), {@code channel} (one connection), then {@code
 * server} (the owner of files) and {@code client} (the reader of blocks), which do not know each
 * other. {@code device} finds adapters.
 */
package io.rdmashuffle.transport;
