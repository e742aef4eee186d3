package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.WcStatus;

/**
 * One entry of a completion queue.
 *
 * @param slots how many requests of the send queue it retires, 0 for a receive
 */
record Completion(FakeQueuePair qp, long wrId, WcStatus status, int bytes, int slots) {
  boolean isReceive() {
    return slots == 0;
  }
}
