package io.rdmashuffle.spark.runtime;

import java.util.Map;

/**
 * What one process did so far.
 *
 * @param device the adapter in use, empty if none
 * @param absence why there is no adapter in use, empty if there is one
 * @param counters the transport's counters by label, and what the engine's own shuffle delivered
 * @param fallbackBlocks blocks the engine's own shuffle delivered, by label of the reason
 * @param levels what is registered, pinned, connected and catalogued now
 * @param readP50Ns median time of a chain of READs; 0 before the first
 * @param readP99Ns its 99th percentile
 */
public record RuntimeSnapshot(
    String device,
    String absence,
    Map<String, Long> counters,
    Map<String, Long> fallbackBlocks,
    Map<String, Long> levels,
    long readP50Ns,
    long readP99Ns) {}
