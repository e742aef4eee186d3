package org.apache.hadoop.mapreduce.task.reduce;

import io.rdmashuffle.mapreduce.reduce.ReduceSession;
import io.rdmashuffle.transport.NanoClock;
import org.apache.hadoop.mapred.ShuffleConsumerPlugin;

/**
 * What the fetchers of one reduce task share.
 *
 * @param context Hadoop's
 * @param scheduler hands out hosts and map outputs
 * @param merger takes map outputs
 * @param metrics of Hadoop's shuffle
 * @param errors where what kills the attempt is reported
 * @param session RDMA in this task
 * @param clock the time
 */
record CopyParts<K, V>(
    ShuffleConsumerPlugin.Context<K, V> context,
    ShuffleSchedulerImpl<K, V> scheduler,
    MergeManager<K, V> merger,
    ShuffleClientMetrics metrics,
    ExceptionReporter errors,
    ReduceSession session,
    NanoClock clock) {}
