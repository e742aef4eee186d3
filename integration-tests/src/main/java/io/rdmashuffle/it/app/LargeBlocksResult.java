package io.rdmashuffle.it.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What {@link LargeBlocksApplication} saw. A bean, for JSON. */
public final class LargeBlocksResult {
  /** Per job, what its partitions held, in order. */
  public List<List<String>> partitions = new ArrayList<>();

  /** Blocks that went through transit memory, of all executors. */
  public long copiedOut;

  /** The most overflow memory that a task saw its executor have. */
  public long overflowBytes;

  /** Blocks that came by Netty, by reason, of all executors. */
  public Map<String, Long> fallbacks = new TreeMap<>();
}
