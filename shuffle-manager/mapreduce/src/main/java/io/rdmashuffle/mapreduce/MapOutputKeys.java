package io.rdmashuffle.mapreduce;

import io.rdmashuffle.transport.server.BlockLocation;
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
 *   <li>{@code firstPartition} is the reduce's number, and there is always one partition,
 *   <li>{@code group} is the number of a piece of {@link #PIECE_BYTES}, or says that the length is
 *       asked for.
 * </ul>
 *
 * <p>A reducer has far less memory than a segment may have bytes, so that it asks for pieces: piece
 * i is what lies from {@code i * PIECE_BYTES} on, as much as there is. An empty segment has one
 * piece, which is empty. {@code Block.attribute()} of each piece is the segment's raw length,
 * before compression. The length key names an empty block, whose attribute is the segment's part
 * length: what travels and ends with a checksum. Both lengths are as the map output's index says,
 * the padding of encrypted spills included; {@link #locationOf} makes the blocks.
 */
public final class MapOutputKeys {
  /**
   * Length of all pieces of a segment but the last. Long enough for READs to be worth their price,
   * and a small part of what a reduce task may register.
   */
  public static final int PIECE_BYTES = 1 << 20;

  private static final int LENGTH = Integer.MAX_VALUE;
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
   * The name of a piece.
   *
   * @param attempt {@link #isNameable}
   * @param reduce number of the reduce, from 0
   * @param piece from 0
   * @throws IllegalArgumentException if there is no such name
   */
  public static BlockKey pieceKeyOf(
      org.apache.hadoop.mapreduce.TaskAttemptID attempt, int reduce, int piece) {
    if (piece < 0 || piece == LENGTH) {
      throw new IllegalArgumentException("piece " + piece + " of " + attempt + " has no name");
    }
    return keyOf(piece, attempt, reduce);
  }

  /**
   * The name under which the part length is told.
   *
   * @param attempt {@link #isNameable}
   * @param reduce number of the reduce, from 0
   * @throws IllegalArgumentException if there is no such name
   */
  public static BlockKey lengthKeyOf(
      org.apache.hadoop.mapreduce.TaskAttemptID attempt, int reduce) {
    return keyOf(LENGTH, attempt, reduce);
  }

  private static BlockKey keyOf(
      int group, org.apache.hadoop.mapreduce.TaskAttemptID attempt, int reduce) {
    if (!isNameable(attempt)) {
      throw new IllegalArgumentException(attempt + " is no map attempt that has a name");
    }
    long output = (long) attempt.getTaskID().getId() << ATTEMPT_BITS | attempt.getId();
    return new BlockKey(group, output, reduce, Math.addExact(reduce, 1));
  }

  /**
   * The block that a key names.
   *
   * @param segment where the whole segment lies; its attribute is the raw length
   * @return null if the segment has no such piece
   */
  public static BlockLocation locationOf(BlockKey key, BlockLocation segment) {
    if (key.group() == LENGTH) {
      return new BlockLocation(segment.file(), segment.offsetBytes(), 0, segment.bytes());
    }
    long from = (long) key.group() * PIECE_BYTES;
    long bytes = Math.min(PIECE_BYTES, segment.bytes() - from);
    if (bytes < 0 || (bytes == 0 && from > 0)) {
      return null;
    }
    return new BlockLocation(
        segment.file(), segment.offsetBytes() + from, bytes, segment.attribute());
  }

  /** Whether a key can be a name that {@link #pieceKeyOf} or {@link #lengthKeyOf} gave. */
  public static boolean namesSegment(BlockKey key) {
    boolean single = key.endPartition() - key.firstPartition() == 1;
    return single && key.output() >>> ATTEMPT_BITS <= Integer.MAX_VALUE;
  }

  /**
   * The attempt that a key means, built from numbers: nothing that came from the network becomes
   * part of a name.
   *
   * @param job whose reducer asks
   * @throws IllegalArgumentException if no segment has such a name
   */
  public static TaskAttemptID attemptOf(JobID job, BlockKey key) {
    if (!namesSegment(key)) {
      throw new IllegalArgumentException(key + " names no segment");
    }
    TaskID map = new TaskID(job, TaskType.MAP, (int) (key.output() >>> ATTEMPT_BITS));
    return new TaskAttemptID(map, (int) (key.output() & (MOST_ATTEMPTS - 1)));
  }

  /** The reduce that a key means. */
  public static int reduceOf(BlockKey key) {
    return key.firstPartition();
  }
}
