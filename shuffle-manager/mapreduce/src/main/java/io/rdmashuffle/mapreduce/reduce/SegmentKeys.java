package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.wire.BlockKey;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/** How a NodeManager knows one reducer's segments. */
interface SegmentKeys {
  /** An empty block, whose attribute is the segment's length in the file. */
  BlockKey length(TaskAttemptID attempt);

  /** A piece, whose attribute is the segment's length before compression. */
  BlockKey piece(TaskAttemptID attempt, int piece);
}
