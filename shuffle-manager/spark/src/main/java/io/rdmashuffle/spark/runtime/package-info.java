/**
 * The life of RDMA in one process of Spark: whether it is used at all, when the transport is opened
 * and closed, what a peer is told about it, and what was counted. Knows none of Spark's classes.
 * Not on a hot path: blocks go straight from the transport to the block store client.
 */
package io.rdmashuffle.spark.runtime;
