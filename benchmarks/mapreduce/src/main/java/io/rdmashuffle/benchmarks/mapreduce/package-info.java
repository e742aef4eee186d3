/**
 * Hadoop in one process: NodeManagers and HDFS of its own mini clusters, with tasks in JVMs of
 * their own, and the demo's jobs on it.
 */
package io.rdmashuffle.benchmarks.mapreduce;
