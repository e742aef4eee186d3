package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient.FetchListener;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/** What a fetch brought, from any thread. Fails if an index is reported twice. */
final class Collected implements FetchListener {
  private final List<BlockKey> keys;
  private final AtomicReferenceArray<Object> outcomes;
  private final CountDownLatch left;
  private volatile String reportedTwice;

  Collected(List<BlockKey> keys) {
    this.keys = keys;
    this.outcomes = new AtomicReferenceArray<>(keys.size());
    this.left = new CountDownLatch(keys.size());
  }

  @Override
  public void onBlock(int index, Block block) {
    report(index, block);
  }

  @Override
  public void onFallback(int[] indices, FallbackReason reason) {
    Arrays.stream(indices).forEach(index -> report(index, reason));
  }

  private void report(int index, Object outcome) {
    if (!outcomes.compareAndSet(index, null, outcome)) {
      reportedTwice = index + ": " + outcomes.get(index) + ", then " + outcome;
    }
    left.countDown();
  }

  List<BlockKey> keys() {
    return keys;
  }

  Collected await() throws InterruptedException {
    return await(Patience.seconds(40));
  }

  Collected await(Duration limit) throws InterruptedException {
    assertThat(left.await(limit.toNanos(), TimeUnit.NANOSECONDS))
        .as("all reported in time")
        .isTrue();
    assertThat(reportedTwice).isNull();
    return this;
  }

  Block block(int index) {
    assertThat(outcomes.get(index)).as("%s", keys.get(index)).isInstanceOf(Block.class);
    return (Block) outcomes.get(index);
  }

  FallbackReason reason(int index) {
    return outcomes.get(index) instanceof FallbackReason reason ? reason : null;
  }

  /** Reasons of those that fell back. */
  List<FallbackReason> reasons() {
    return IntStream.range(0, keys.size())
        .mapToObj(this::reason)
        .filter(Objects::nonNull)
        .distinct()
        .toList();
  }

  int arrived() {
    int count = 0;
    for (int i = 0; i < keys.size(); i++) {
      count += outcomes.get(i) instanceof Block ? 1 : 0;
    }
    return count;
  }

  /** Closes every block that came. */
  void close() {
    for (int i = 0; i < keys.size(); i++) {
      if (outcomes.get(i) instanceof Block block) {
        block.close();
      }
    }
  }

  /** All blocks came, and each is what the owner's file has; closes them. */
  Collected check(Outputs owner) throws IOException {
    assertThat(reasons()).as("why blocks fell back").isEmpty();
    return checkWhatCame(owner);
  }

  /** Compares every block that came with the owner's file, and closes it. */
  Collected checkWhatCame(Outputs owner) throws IOException {
    for (int i = 0; i < keys.size(); i++) {
      if (outcomes.get(i) instanceof Block block) {
        try (block;
            InputStream in = block.stream()) {
          assertThat(Arrays.equals(in.readAllBytes(), owner.content(keys.get(i))))
              .as("bytes of %s", block)
              .isTrue();
        }
      }
    }
    return this;
  }
}
