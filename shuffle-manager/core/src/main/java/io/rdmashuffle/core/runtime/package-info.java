/**
 * The life of RDMA in one process of an engine: whether it is used at all, when the transport is
 * opened and closed, what a peer is told about it, and what was counted. Knows no engine. Not on a
 * hot path: blocks go straight from the transport to the engine's adapter.
 */
package io.rdmashuffle.core.runtime;
