package io.rdmashuffle.transport.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.wire.BlockKey;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What became of one fetch. Copies each block and closes it, as a quick consumer does. */
public final class Fetched implements BlockClient.FetchListener {
  private static final long PATIENCE_SECONDS = Patience.seconds(40).toSeconds();
  private final List<BlockKey> keys;
  private final byte[][] bytes;
  private final Block.Source[] sources;
  private final FallbackReason[] fallbacks;
  private final AtomicInteger repeated = new AtomicInteger();
  private final CountDownLatch open;

  Fetched(List<BlockKey> keys) {
    this.keys = keys;
    this.bytes = new byte[keys.size()][];
    this.sources = new Block.Source[keys.size()];
    this.fallbacks = new FallbackReason[keys.size()];
    this.open = new CountDownLatch(keys.size());
  }

  @Override
  public void onBlock(int index, Block block) {
    try (block) {
      ByteBuffer content = block.buffer();
      byte[] copy = new byte[content.remaining()];
      content.get(copy);
      sources[index] = block.source();
      report(index, copy, null);
    }
  }

  @Override
  public void onFallback(int[] indices, FallbackReason reason) {
    for (int index : indices) {
      report(index, null, reason);
    }
  }

  private void report(int index, byte[] content, FallbackReason reason) {
    if (bytes[index] != null || fallbacks[index] != null) {
      repeated.incrementAndGet();
    }
    bytes[index] = content;
    fallbacks[index] = reason;
    open.countDown();
  }

  /** Waits for the last report; fails if that takes too long or an index was reported twice. */
  public Fetched await() throws InterruptedException {
    boolean complete = open.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    assertThat(complete).as("%s of %s blocks not reported", open.getCount(), keys.size()).isTrue();
    assertThat(repeated).hasValue(0);
    return this;
  }

  public List<BlockKey> keys() {
    return keys;
  }

  /** Null if it fell back. */
  public byte[] bytes(int index) {
    return bytes[index];
  }

  /** Null if it fell back. */
  public Block.Source source(int index) {
    return sources[index];
  }

  /** Null if it arrived. */
  public FallbackReason fallback(int index) {
    return fallbacks[index];
  }

  /** How many blocks came that way. */
  public int count(Block.Source source) {
    int count = 0;
    for (Block.Source s : sources) {
      count += s == source ? 1 : 0;
    }
    return count;
  }

  /** How many blocks fell back, by reason. */
  public Map<FallbackReason, Integer> fallbacks() {
    Map<FallbackReason, Integer> counts = new EnumMap<>(FallbackReason.class);
    for (FallbackReason reason : fallbacks) {
      if (reason != null) {
        counts.merge(reason, 1, Integer::sum);
      }
    }
    return counts;
  }

  /** How many blocks came. */
  public int arrived() {
    int count = 0;
    for (byte[] b : bytes) {
      count += b != null ? 1 : 0;
    }
    return count;
  }
}
