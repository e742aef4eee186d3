/**
 * The narrow interface to RDMA verbs and the RDMA connection manager that everything else is
 * written against. Implementations: {@code verbs.disni} (real adapters and the software adapter)
 * and, in the tests, an in-memory fake. One contract suite runs on all of them.
 *
 * <p>Names are those of ibv_*(3) and rdma_*(3). Addresses are virtual addresses of this process or,
 * where they are called remote, of the peer. Hot path: {@link QueuePair} posts, {@link
 * CompletionQueue#poll}.
 */
package io.rdmashuffle.transport.verbs;
