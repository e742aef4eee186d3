package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.mapreduce.TaskAttemptID;

/**
 * What a batch knows of one segment: how long it is, which pieces were asked for, are here, and
 * were taken by the reader. Guarded by the batch's lock.
 */
final class InFlight {
  private static final long UNKNOWN = -1;

  private final TaskAttemptID attempt;
  private final BatchLimits limits;
  private final Map<Integer, Block> here = new HashMap<>();
  private long partBytes = UNKNOWN;
  private long rawBytes = UNKNOWN;
  private FallbackReason refusal;
  private int asked;
  private int taken;
  private boolean dropped;

  InFlight(TaskAttemptID attempt, BatchLimits limits) {
    this.attempt = attempt;
    this.limits = limits;
  }

  TaskAttemptID attempt() {
    return attempt;
  }

  long partBytes() {
    return partBytes;
  }

  long rawBytes() {
    return rawBytes;
  }

  // ---- what was asked for

  /** The next piece to ask for, which then counts as asked for. */
  int ask() {
    return asked++;
  }

  /** Pieces that nobody asked for yet; only once it is ready. */
  long unasked() {
    return limits.pieces(partBytes) - asked;
  }

  /** Whether the reader's next piece was not even asked for. */
  boolean isStarving() {
    return taken == asked;
  }

  // ---- what came

  void lengthCame(long bytes) {
    if (bytes < 0) {
      refuse(FallbackReason.TRANSFER_FAILED);
    } else {
      partBytes = bytes;
      check();
    }
  }

  void pieceCame(int piece, Block block) {
    here.put(piece, block);
    if (piece == 0) {
      rawBytes = block.attribute();
      check();
    } else if (block.bytes() != limits.pieceBytes(partBytes, piece)) {
      refuse(FallbackReason.TRANSFER_FAILED);
    }
  }

  /** Both answers to its first request are here: they must fit each other. */
  private void check() {
    if (!isReady()) {
      return;
    }
    if (rawBytes < 0 || here.get(0).bytes() != limits.pieceBytes(partBytes, 0)) {
      refuse(FallbackReason.TRANSFER_FAILED);
    } else if (limits.pieces(partBytes) >= Integer.MAX_VALUE) {
      refuse(FallbackReason.TOO_LARGE);
    }
  }

  /** The first reason stays. */
  void refuse(FallbackReason reason) {
    if (refusal == null) {
      refusal = reason;
    }
  }

  /** Null unless it does not come, or not all of it. */
  FallbackReason refusal() {
    return refusal;
  }

  /** Whether its lengths and its first piece are here. */
  boolean isReady() {
    return partBytes != UNKNOWN && (taken > 0 || here.containsKey(0));
  }

  /** Whether what was first asked for is still to come. */
  boolean isBeginning() {
    return asked > 0 && refusal == null && !dropped && !isReady();
  }

  /** Whether waiting for the reader's next piece is over. */
  boolean hasNext() {
    return refusal != null || here.containsKey(taken);
  }

  /** The reader's next piece; null if it is not here. */
  Block take() {
    Block block = here.remove(taken);
    if (block != null) {
      taken++;
    }
    return block;
  }

  // ---- the end

  boolean isDropped() {
    return dropped;
  }

  /**
   * Nobody reads it any more.
   *
   * @return bytes of the pieces that were here and are closed now
   */
  long drop() {
    dropped = true;
    long bytes = 0;
    for (Block block : here.values()) {
      bytes += block.bytes();
      block.close();
    }
    here.clear();
    return bytes;
  }
}
