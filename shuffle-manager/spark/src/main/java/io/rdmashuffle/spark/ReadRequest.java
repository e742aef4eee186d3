package io.rdmashuffle.spark;

import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import scala.collection.Iterator;

/**
 * What Spark wants read.
 *
 * @param handle the shuffle
 * @param blocks per peer its blocks with sizes and map indices, as the MapOutputTracker says
 * @param context of the task
 * @param metrics of the task
 * @param batchAllowed whether neighbouring partitions of one map output may be one block
 */
record ReadRequest<K, C>(
    BaseShuffleHandle<K, ?, C> handle,
    Iterator<?> blocks,
    TaskContext context,
    ShuffleReadMetricsReporter metrics,
    boolean batchAllowed) {}
