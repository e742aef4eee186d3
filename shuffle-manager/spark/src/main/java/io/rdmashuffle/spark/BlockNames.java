package io.rdmashuffle.spark;

import io.rdmashuffle.transport.wire.BlockKey;
import java.util.Optional;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockId;

/**
 * Names of shuffle blocks, as ShuffleBlockId and ShuffleBlockBatchId print them: {@code
 * shuffle_S_M_R} and {@code shuffle_S_M_R_END}.
 */
final class BlockNames {
  private static final String START = "shuffle_";

  /** No real partition has this number: Spark's partition counts are ints. */
  private static final int RESERVED_PARTITION = Integer.MAX_VALUE;

  /** Asked of a peer, answered with how to reach it by RDMA. */
  static final String INVITATION = START + "0_0_" + RESERVED_PARTITION;

  private BlockNames() {}

  static boolean asksForInvitation(BlockId id) {
    return id instanceof ShuffleBlockId block && block.reduceId() == RESERVED_PARTITION;
  }

  /** The key of a block that RDMA can carry; empty for merged chunks and everything else. */
  static Optional<BlockKey> parse(String name) {
    if (!name.startsWith(START)) {
      return Optional.empty();
    }
    String[] parts = name.substring(START.length()).split("_", -1);
    if (parts.length != 3 && parts.length != 4) {
      return Optional.empty();
    }
    try {
      int first = Integer.parseInt(parts[2]);
      int end = parts.length == 4 ? Integer.parseInt(parts[3]) : Math.addExact(first, 1);
      return Optional.of(
          new BlockKey(Integer.parseInt(parts[0]), Long.parseLong(parts[1]), first, end));
    } catch (IllegalArgumentException | ArithmeticException e) {
      return Optional.empty(); // shuffle_0_1_0.index, say
    }
  }
}
