/**
 * The two classes that Hadoop's access rules force into its own package: {@link
 * org.apache.hadoop.mapreduce.task.reduce.RdmaShuffle}, the plugin, and the fetcher it starts, with
 * what they need of package-private classes. Everything else is in {@code
 * io.rdmashuffle.mapreduce.reduce}.
 *
 * <p>The hot path is {@link org.apache.hadoop.mapreduce.task.reduce.SegmentCopier#copy}.
 */
package org.apache.hadoop.mapreduce.task.reduce;
