package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls of listeners, made one after another by a delivery thread. Filled by one thread before. */
final class DeliveryBatch implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(DeliveryBatch.class);

  private Fetch[] fetches = new Fetch[8];
  private int[] indices = new int[8];
  private Block[] blocks = new Block[8];
  private int size;
  private final List<Fallback> fallbacks = new ArrayList<>(0);

  void add(Fetch fetch, int index, Block block) {
    if (size == blocks.length) {
      fetches = Arrays.copyOf(fetches, 2 * size);
      indices = Arrays.copyOf(indices, 2 * size);
      blocks = Arrays.copyOf(blocks, 2 * size);
    }
    fetches[size] = fetch;
    indices[size] = index;
    blocks[size] = block;
    size++;
  }

  /** Adds to the fetch's previous entry where that has the same reason. */
  void add(Fetch fetch, int[] lost, FallbackReason reason) {
    int last = fallbacks.size() - 1;
    if (last >= 0 && fallbacks.get(last).fetch == fetch && fallbacks.get(last).reason == reason) {
      fallbacks.get(last).append(lost);
    } else {
      fallbacks.add(new Fallback(fetch, lost, reason));
    }
  }

  @Override
  public void run() {
    for (int i = 0; i < size; i++) {
      deliver(fetches[i], indices[i], blocks[i]);
    }
    fallbacks.forEach(Fallback::tell);
  }

  private static void deliver(Fetch fetch, int index, Block block) {
    try {
      fetch.listener().onBlock(index, block);
    } catch (Throwable t) { // whatever the engine's code throws, the other blocks go on
      LOG.error("The listener of {} failed; its memory is taken back", block, t);
      block.close();
    }
  }

  /** Indices of one fetch that go another way. */
  private static final class Fallback {
    private final Fetch fetch;
    private final FallbackReason reason;
    private int[] indices;
    private int count;

    Fallback(Fetch fetch, int[] indices, FallbackReason reason) {
      this.fetch = fetch;
      this.reason = reason;
      this.indices = indices;
      this.count = indices.length;
    }

    void append(int[] more) {
      if (count + more.length > indices.length) {
        indices = Arrays.copyOf(indices, Math.max(2 * count, count + more.length));
      }
      System.arraycopy(more, 0, indices, count, more.length);
      count += more.length;
    }

    void tell() {
      try {
        fetch.listener().onFallback(Arrays.copyOf(indices, count), reason);
      } catch (Throwable t) { // as above
        LOG.error(
            "The listener of {} blocks of {} failed on their fallback ({})",
            count,
            fetch.peer(),
            reason.label(),
            t);
      }
    }
  }
}
