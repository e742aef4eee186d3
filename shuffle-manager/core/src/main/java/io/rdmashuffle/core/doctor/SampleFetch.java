package io.rdmashuffle.core.doctor;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One reading of all blocks of a {@link SampleFile}. Any thread. */
final class SampleFetch implements BlockClient.FetchListener {
  /** Longer than any deadline of the transport. */
  private static final long LIMIT_S = 60;

  private final CountDownLatch left = new CountDownLatch(SampleFile.BLOCKS);
  private volatile FallbackReason reason;
  private volatile boolean wrong;
  private volatile boolean staged;

  @Override
  public void onBlock(int index, Block block) {
    try (block;
        InputStream in = block.stream()) {
      wrong |= !Arrays.equals(in.readAllBytes(), SampleFile.expected(index));
      staged |= block.source() == Block.Source.STAGED;
    } catch (IOException e) {
      wrong = true;
    } finally {
      left.countDown();
    }
  }

  @Override
  public void onFallback(int[] indices, FallbackReason why) {
    reason = why;
    Arrays.stream(indices).forEach(index -> left.countDown());
  }

  /** Waits for the last block; if it does not come, the fetch counts as timed out. */
  void await() {
    try {
      if (!left.await(LIMIT_S, TimeUnit.SECONDS)) {
        reason = FallbackReason.TRANSFER_FAILED;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      reason = FallbackReason.TRANSFER_FAILED;
    }
  }

  /** Why blocks did not come; null if all came. */
  FallbackReason reason() {
    return reason;
  }

  boolean isWrong() {
    return wrong;
  }

  boolean isStaged() {
    return staged;
  }
}
