package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.ProgressLoop;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;

/**
 * Collects what is to be reported and hands it to the delivery threads: one task for everything
 * that one round of the progress thread decides. Progress thread only.
 */
final class Deliveries {
  private final ProgressLoop loop;
  private final Executor deliveryThreads;
  private DeliveryBatch batch;

  Deliveries(ProgressLoop loop, Executor deliveryThreads) {
    this.loop = loop;
    this.deliveryThreads = deliveryThreads;
  }

  void add(Fetch fetch, int index, Block block) {
    open().add(fetch, index, block);
  }

  void add(Fetch fetch, int[] indices, FallbackReason reason) {
    open().add(fetch, indices, reason);
  }

  /** Hands over what was collected. Happens by itself at the end of the round. */
  void flush() {
    if (batch != null) {
      DeliveryBatch full = batch;
      batch = null;
      deliver(deliveryThreads, full);
    }
  }

  /**
   * Runs a batch on a delivery thread. A listener that is never told waits for ever: should the
   * threads be gone already, the JVM's common pool takes it.
   */
  static void deliver(Executor deliveryThreads, DeliveryBatch batch) {
    try {
      deliveryThreads.execute(batch);
    } catch (RejectedExecutionException expectedAfterStop) {
      ForkJoinPool.commonPool().execute(batch);
    }
  }

  private DeliveryBatch open() {
    if (batch == null) {
      batch = new DeliveryBatch();
      loop.execute(this::flush);
    }
    return batch;
  }
}
