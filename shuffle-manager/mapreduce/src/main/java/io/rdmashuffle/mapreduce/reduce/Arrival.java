package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/** What became of one map output that was asked for. */
public sealed interface Arrival permits Segment, Arrival.Refused {
  /** The map attempt that wrote it. */
  TaskAttemptID attempt();

  /**
   * It does not come by RDMA; others of the same host may.
   *
   * @param reason why
   */
  record Refused(TaskAttemptID attempt, FallbackReason reason) implements Arrival {}
}
