package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.channel.ProgressLoop;
import io.rdmashuffle.transport.handover.Signal;
import io.rdmashuffle.transport.handover.WorkChain;
import io.rdmashuffle.transport.handover.Workers;

/**
 * Collects the fetches of which something is to be reported and hands them to the delivery threads:
 * all that one round of the progress thread decides with one wake-up. Allocates nothing. Progress
 * thread only, except {@link #deliver}.
 */
final class Deliveries {
  private final Workers deliveryThreads;
  private final Signal flush;
  private final WorkChain chain = new WorkChain();
  private Delivery first;
  private Delivery last;

  Deliveries(ProgressLoop loop, Workers deliveryThreads) {
    this.deliveryThreads = deliveryThreads;
    this.flush = new Signal(loop, this::flush);
  }

  /** Something was settled. */
  void touch(Delivery delivery) {
    if (!delivery.touch()) {
      return;
    }
    if (first == null) {
      first = delivery;
      flush.raise();
    } else {
      last.setNextTouched(delivery);
    }
    last = delivery;
  }

  /** Hands over what was collected. Happens by itself at the end of the round. */
  void flush() {
    for (Delivery delivery = first; delivery != null; ) {
      Delivery next = delivery.nextTouched();
      delivery.untouch();
      if (delivery.publish()) {
        chain.add(delivery);
      }
      delivery = next;
    }
    first = null;
    last = null;
    deliveryThreads.executeAll(chain);
  }

  /** One that the progress thread has not seen. Any thread. */
  void deliver(Delivery delivery) {
    if (delivery.publish()) {
      deliveryThreads.execute(delivery);
    }
  }
}
