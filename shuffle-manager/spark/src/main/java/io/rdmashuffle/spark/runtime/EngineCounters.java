package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.transport.FallbackReason;
import java.util.EnumMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * What came through the engine's own shuffle, and why: blocks and bytes delivered, by reason. Any
 * thread.
 */
public final class EngineCounters {
  private final Map<FallbackReason, LongAdder> blocks = new EnumMap<>(FallbackReason.class);
  private final Map<FallbackReason, LongAdder> bytes = new EnumMap<>(FallbackReason.class);
  private final LongAdder failedBlocks = new LongAdder();

  public EngineCounters() {
    for (FallbackReason reason : FallbackReason.values()) {
      blocks.put(reason, new LongAdder());
      bytes.put(reason, new LongAdder());
    }
  }

  public void delivered(FallbackReason reason, long blockBytes) {
    blocks.get(reason).increment();
    bytes.get(reason).add(blockBytes);
  }

  /** The engine's own shuffle could not get a block either. */
  public void failed() {
    failedBlocks.increment();
  }

  public long blocks(FallbackReason reason) {
    return blocks.get(reason).sum();
  }

  public long bytes(FallbackReason reason) {
    return bytes.get(reason).sum();
  }

  public long totalBlocks() {
    return total(blocks);
  }

  public long totalBytes() {
    return total(bytes);
  }

  public long failedBlocks() {
    return failedBlocks.sum();
  }

  /** Blocks by the label of the reason, without the reasons that never occurred. */
  Map<String, Long> blocksByReason() {
    Map<String, Long> counted = new TreeMap<>();
    blocks.forEach(
        (reason, count) -> {
          if (count.sum() > 0) {
            counted.put(reason.label(), count.sum());
          }
        });
    return counted;
  }

  private static long total(Map<FallbackReason, LongAdder> counts) {
    return counts.values().stream().mapToLong(LongAdder::sum).sum();
  }
}
