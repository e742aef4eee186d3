package io.rdmashuffle.transport;

import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.handover.WorkerPool;
import io.rdmashuffle.transport.handover.Workers;

/**
 * The pools of a transport besides those of its channel layer: few threads, all made at opening.
 * Their queues are bounded by what was admitted before.
 */
final class TransportThreads implements AutoCloseable {
  /** Registering and reading files waits for kernel and disk more than it computes. */
  static final int SLOW_THREADS = 4;

  private static final int COPY_THREADS = 2;
  private static final int DELIVERY_THREADS = 2;

  private final CloseStack pools;
  private final WorkerPool slow;
  private final WorkerPool copy;
  private final WorkerPool delivery;

  /**
   * @throws TransportException if the system gives too few threads; none is left then
   */
  TransportThreads(Threads threads) throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      delivery = undo.push(WorkerPool.open(threads, "delivery", DELIVERY_THREADS));
      copy = undo.push(WorkerPool.open(threads, "copy", COPY_THREADS));
      slow = undo.push(WorkerPool.open(threads, "slow-work", SLOW_THREADS));
      pools = undo.handOver();
    }
  }

  /** Registers, reads files. */
  Workers slow() {
    return slow;
  }

  /** Copies blocks out of registered memory, and does nothing else: nobody may wait for others. */
  Workers copy() {
    return copy;
  }

  /** Calls the engine's listeners. */
  Workers delivery() {
    return delivery;
  }

  /** What work lets through is told to the loop, which makes good for it. */
  void reportTo(ProgressLoop loop) {
    delivery.reportTo(loop::fail);
    copy.reportTo(loop::fail);
    slow.reportTo(loop::fail);
  }

  /** Does what was asked for before, then ends. Idempotent. */
  @Override
  public void close() {
    pools.close();
  }
}
