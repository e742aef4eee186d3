package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.client.BlockClient.FetchListener;
import io.rdmashuffle.transport.handover.Work;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What became of the blocks of one fetch, on its way to the listener. Everything it takes is made
 * with the fetch: from deciding on a block to telling the listener nothing can fail for lack of
 * memory.
 *
 * <p><b>Threads:</b> filled by the progress thread, or by the caller of a fetch that is refused;
 * one delivery thread at a time tells the listener.
 */
final class Delivery extends Work {
  private static final Logger LOG = LoggerFactory.getLogger(Delivery.class);
  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Peer peer;
  private final FetchListener listener;
  private final Object[] outcomes; // by index: a Block, or the FallbackReason; null once told
  private final int[] order; // indices, in the order they were settled
  private final AtomicInteger rounds = new AtomicInteger(); // published, and not yet told
  private int settled;
  private volatile int published; // of those settled
  private int told; // of those published
  private boolean touched;
  private Delivery nextTouched;

  Delivery(Peer peer, FetchListener listener, int blocks) {
    this.peer = peer;
    this.listener = listener;
    this.outcomes = new Object[blocks];
    this.order = new int[blocks];
  }

  void settle(int index, Object outcome) {
    outcomes[index] = outcome;
    order[settled++] = index;
  }

  /** Returns whether it is to be handed to a delivery thread; else one is at it. */
  boolean publish() {
    published = settled;
    return rounds.getAndIncrement() == 0;
  }

  @Override
  protected void run() {
    int seen = rounds.get();
    while (seen != 0) {
      tell(published);
      seen = rounds.addAndGet(-seen);
    }
  }

  /** The delivery threads have ended: whoever waits is told here. */
  @Override
  protected void abandoned(Throwable why) {
    run();
  }

  private void tell(int end) {
    for (int i = told; i < end; i++) {
      if (outcomes[order[i]] instanceof Block block) {
        outcomes[order[i]] = null;
        tellBlock(order[i], block);
      }
    }
    for (int i = told; i < end; i++) {
      if (outcomes[order[i]] instanceof FallbackReason reason) {
        tellFallback(indicesOf(reason, i, end), reason);
      }
    }
    told = end;
  }

  private void tellBlock(int index, Block block) {
    try {
      listener.onBlock(index, block);
    } catch (Throwable t) { // whatever the engine's code throws, the other blocks go on
      takeBack(block, t);
    }
  }

  private static void takeBack(Block block, Throwable cause) {
    try {
      block.close();
    } finally {
      log("The listener of {} failed; its memory is taken back", block, cause);
    }
  }

  private void tellFallback(int[] indices, FallbackReason reason) {
    try {
      listener.onFallback(indices, reason);
    } catch (Throwable t) { // as above
      log("The listener of blocks of {} failed on their fallback", peer, t);
    }
  }

  private static void log(String text, Object what, Throwable cause) {
    try {
      LOG.error(text, what, cause);
    } catch (OutOfMemoryError noMemory) {
      LockSupport.parkNanos(PAUSE_NS); // nor for the next, most likely
    }
  }

  /** Takes the indices of all that fell back for a reason. */
  private int[] indicesOf(FallbackReason reason, int from, int end) {
    int count = 0;
    for (int i = from; i < end; i++) {
      if (outcomes[order[i]] == reason) {
        count++;
      }
    }
    int[] indices = newIndices(count);
    for (int i = from, n = 0; n < count; i++) {
      if (outcomes[order[i]] == reason) {
        outcomes[order[i]] = null;
        indices[n++] = order[i];
      }
    }
    return indices;
  }

  /** Waits for memory: there is nothing else to do, and the listener needs some, too. */
  private static int[] newIndices(int count) {
    while (true) {
      try {
        return new int[count];
      } catch (OutOfMemoryError e) {
        LockSupport.parkNanos(PAUSE_NS);
      }
    }
  }

  // ---- in a list of those that were touched in a round of the progress thread

  /** Returns false if it is in the list already. */
  boolean touch() {
    boolean first = !touched;
    touched = true;
    return first;
  }

  void untouch() {
    touched = false;
    nextTouched = null;
  }

  Delivery nextTouched() {
    return nextTouched;
  }

  void setNextTouched(Delivery next) {
    nextTouched = next;
  }
}
