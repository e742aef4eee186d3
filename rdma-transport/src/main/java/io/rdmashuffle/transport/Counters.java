package io.rdmashuffle.transport;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * The transport's counters: totals since start, or levels for those named {@code live}. Any thread;
 * a sum may lag by updates in progress.
 */
public final class Counters {
  private final Map<Counter, LongAdder> values = new EnumMap<>(Counter.class);
  private final Map<FallbackReason, LongAdder> fallbacks = new EnumMap<>(FallbackReason.class);
  private final LatencyHistogram readLatency = new LatencyHistogram();

  public Counters() {
    for (Counter c : Counter.values()) {
      values.put(c, new LongAdder());
    }
    for (FallbackReason r : FallbackReason.values()) {
      fallbacks.put(r, new LongAdder());
    }
  }

  public void add(Counter counter, long delta) {
    values.get(counter).add(delta);
  }

  public void increment(Counter counter) {
    values.get(counter).increment();
  }

  public long value(Counter counter) {
    return values.get(counter).sum();
  }

  /** Counts blocks that this reader took from the engine's own shuffle. */
  public void fellBack(FallbackReason reason, long blocks) {
    fallbacks.get(reason).add(blocks);
  }

  public long fallbacks(FallbackReason reason) {
    return fallbacks.get(reason).sum();
  }

  /** From posting a chain of READs to its completion. */
  public LatencyHistogram readLatency() {
    return readLatency;
  }
}
