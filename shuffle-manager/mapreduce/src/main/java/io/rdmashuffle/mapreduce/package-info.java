/**
 * The shuffle of Hadoop MapReduce over RDMA: what both sides must agree on. {@code nm} is the
 * NodeManager's side, {@code reduce} the reducer's; only the classes that Hadoop's access rules
 * force into its own package are there.
 */
package io.rdmashuffle.mapreduce;
