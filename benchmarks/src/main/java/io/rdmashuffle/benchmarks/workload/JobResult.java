package io.rdmashuffle.benchmarks.workload;

import java.util.Map;
import java.util.TreeMap;

/**
 * What one job did under one shuffle. A bean, for JSON.
 *
 * <p>Blocks and bytes are remote ones, by the way they came: {@code read}, {@code inline}, {@code
 * staged}, and {@code netty} or {@code http}.
 */
public final class JobResult {
  public String name;
  public String digest;
  public double seconds;
  public Map<String, Long> blocks = new TreeMap<>();
  public Map<String, Long> bytes = new TreeMap<>();
  public Map<String, Long> fallbacks = new TreeMap<>();

  /**
   * The same by the engine's own metrics: remote blocks in Spark, segments in MapReduce. The ways
   * add up to at least that: Spark counts a reader's blocks when the reader is drained
   * (BlockStoreShuffleReader), which a join need not do.
   */
  public long engineBlocks;
}
