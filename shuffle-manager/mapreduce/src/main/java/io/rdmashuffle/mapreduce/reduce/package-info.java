/**
 * The reducer's side without Hadoop's fetching machinery: whether a reduce task may use RDMA, what
 * it asks of a NodeManager, how segments stream through a bounded window of memory, which hosts are
 * left to HTTP for a while, and the job counters. {@code org.apache.hadoop.mapreduce.task.reduce}
 * plugs it into Hadoop; the hot path is {@link
 * io.rdmashuffle.mapreduce.reduce.SegmentStream#read(byte[], int, int)}.
 */
package io.rdmashuffle.mapreduce.reduce;
