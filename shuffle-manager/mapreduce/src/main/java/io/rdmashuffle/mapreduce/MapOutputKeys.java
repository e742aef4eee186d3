package io.rdmashuffle.mapreduce;

import io.rdmashuffle.transport.wire.BlockKey;
import org.apache.hadoop.mapred.JobID;
import org.apache.hadoop.mapred.TaskAttemptID;
import org.apache.hadoop.mapred.TaskID;
import org.apache.hadoop.mapreduce.TaskType;

/**
 * How a segment, the part of a map attempt's output for one reduce, is named to the transport. The
 * job is not part of the name: it is the scope, given by the {@link JobCredential} under which the
 * reducer connected, so that a reducer cannot even name another job's segment.
 *
 * <ul>
 *   <li>{@code output} is the map's index, shifted, and the attempt's number,
 *   <li>{@code firstPartition} is the reduce's number, and there is always one partition.
 * </ul>
 *
 * <p>The block that answers a key has both lengths that Hadoop's merge needs: {@code Block.bytes()}
 * is the part length, what travels and ends with a checksum; {@code Block.attribute()} is the raw
 * length, before compression. Both as the map output's index says, the padding of encrypted spills
 * included.
 */
public final class MapOutputKeys {
  private static final int ATTEMPT_BITS = 20;
  private static final int MOST_ATTEMPTS = 1 << ATTEMPT_BITS;

  private MapOutputKeys() {}

  /** Whether the attempt has a name: attempts from the millionth on have none, nor have reduces. */
  public static boolean isNameable(org.apache.hadoop.mapreduce.TaskAttemptID attempt) {
    return attempt.getTaskType() == TaskType.MAP
        && attempt.getId() >= 0
        && attempt.getId() < MOST_ATTEMPTS
        && attempt.getTaskID().getId() >= 0;
  }

  /**
   * The name of a segment.
   *
   * @param attempt {@link #isNameable}
   * @param reduce number of the reduce, from 0
   * @throws IllegalArgumentException if there is no such name
   */
  public static BlockKey keyOf(org.apache.hadoop.mapreduce.TaskAttemptID attempt, int reduce) {
    if (!isNameable(attempt)) {
      throw new IllegalArgumentException(attempt + " is no map attempt that has a name");
    }
    long output = (long) attempt.getTaskID().getId() << ATTEMPT_BITS | attempt.getId();
    return new BlockKey(0, output, reduce, Math.addExact(reduce, 1));
  }

  /**
   * The attempt that a key means, built from numbers: nothing that came from the network becomes
   * part of a name.
   *
   * @param job whose reducer asks
   * @throws IllegalArgumentException if no segment has such a name
   */
  public static TaskAttemptID attemptOf(JobID job, BlockKey key) {
    long index = key.output() >>> ATTEMPT_BITS;
    boolean single = key.endPartition() - key.firstPartition() == 1;
    if (key.group() != 0 || !single || index > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(key + " names no segment");
    }
    TaskID map = new TaskID(job, TaskType.MAP, (int) index);
    return new TaskAttemptID(map, (int) (key.output() & (MOST_ATTEMPTS - 1)));
  }

  /** The reduce that a key means. */
  public static int reduceOf(BlockKey key) {
    return key.firstPartition();
  }
}
