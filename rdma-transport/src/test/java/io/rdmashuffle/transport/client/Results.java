package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.BlockClient.FetchListener;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/** What a fetch reported. Fails at the second report of an index. */
class Results implements FetchListener {
  private final List<BlockKey> keys;
  private final Block[] blocks;
  private final FallbackReason[] reasons;
  private final boolean[] seen;
  private int reported;

  Results(List<BlockKey> keys) {
    this.keys = keys;
    this.blocks = new Block[keys.size()];
    this.reasons = new FallbackReason[keys.size()];
    this.seen = new boolean[keys.size()];
  }

  @Override
  public synchronized void onBlock(int index, Block block) {
    checkFirst(index);
    blocks[index] = block;
  }

  @Override
  public synchronized void onFallback(int[] indices, FallbackReason reason) {
    for (int index : indices) {
      checkFirst(index);
      reasons[index] = reason;
    }
  }

  private void checkFirst(int index) {
    assertThat(seen[index]).as("index %s was reported before", index).isFalse();
    seen[index] = true;
    reported++;
  }

  List<BlockKey> keys() {
    return keys;
  }

  synchronized int reported() {
    return reported;
  }

  synchronized boolean isComplete() {
    return reported == keys.size();
  }

  synchronized Block block(int index) {
    assertThat(blocks[index]).as("block %s, fell back: %s", index, reasons[index]).isNotNull();
    return blocks[index];
  }

  synchronized boolean hasBlock(int index) {
    return blocks[index] != null;
  }

  synchronized FallbackReason reason(int index) {
    return reasons[index];
  }

  synchronized FallbackReason[] reasons() {
    return reasons.clone();
  }

  synchronized long arrived() {
    return reported - Arrays.stream(reasons).filter(Objects::nonNull).count();
  }

  /** Blocks that came and were not yet checked. */
  synchronized long held() {
    return Arrays.stream(blocks).filter(Objects::nonNull).count();
  }

  /** All blocks came, and each is its owner's; closes them. */
  void checkAndClose(Owner owner) {
    assertThat(reported()).as("blocks reported").isEqualTo(keys.size());
    assertThat(reasons()).as("why blocks fell back").containsOnlyNulls();
    checkWhatCame(owner);
  }

  /** Compares every block that came with its owner's, and closes it. */
  void checkWhatCame(Owner owner) {
    for (int i = 0; i < keys.size(); i++) {
      if (hasBlock(i)) {
        assertThat(bytes(block(i))).as("%s", keys.get(i)).isEqualTo(owner.content(keys.get(i)));
        block(i).close();
        blocks[i] = null;
      }
    }
  }

  static byte[] bytes(Block block) {
    try (InputStream in = block.stream()) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
