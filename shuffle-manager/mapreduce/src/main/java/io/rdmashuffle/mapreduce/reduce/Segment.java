package io.rdmashuffle.mapreduce.reduce;

import org.apache.hadoop.mapreduce.TaskAttemptID;

/**
 * One reducer's part of one map output, whose bytes come as they are read. Belongs to the {@link
 * SegmentBatch} it came from and ends with it, or when the batch's next one is asked for.
 *
 * @param attempt the map attempt that wrote it
 * @param rawBytes as the map output's index says: before compression
 * @param partBytes as the index says: what {@code stream} gives
 * @param stream one thread's
 */
public record Segment(TaskAttemptID attempt, long rawBytes, long partBytes, SegmentStream stream)
    implements Arrival {}
