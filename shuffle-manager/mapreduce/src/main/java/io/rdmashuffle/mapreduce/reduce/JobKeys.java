package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.transport.wire.BlockKey;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/**
 * Segments of one reduce, by the names that both sides know.
 *
 * @param reduce its number
 */
record JobKeys(int reduce) implements SegmentKeys {
  @Override
  public BlockKey length(TaskAttemptID attempt) {
    return MapOutputKeys.lengthKeyOf(attempt, reduce);
  }

  @Override
  public BlockKey piece(TaskAttemptID attempt, int piece) {
    return MapOutputKeys.pieceKeyOf(attempt, reduce, piece);
  }
}
