package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.verbs.DeviceAttributes;
import io.rdmashuffle.transport.verbs.QueuePairCapacity;
import io.rdmashuffle.transport.wire.WireLimits;

/**
 * How large one connection is.
 *
 * @param requests unanswered requests, the one kept for keep-alives included; each has a frame to
 *     send and a frame to receive
 * @param reads READs posted; 0 at an owner
 */
record ConnectionShape(int requests, int reads) {
  static ConnectionShape ofReader(ChannelSettings settings, DeviceAttributes attributes) {
    int requests = requests(settings, attributes);
    return new ConnectionShape(
        requests, Math.max(1, Math.min(settings.readsInFlight(), attributes.maxQpWr() - requests)));
  }

  static ConnectionShape ofOwner(ChannelSettings settings, DeviceAttributes attributes) {
    return new ConnectionShape(requests(settings, attributes), 0);
  }

  /** Registered memory for the frames of one connection, at most: an adapter may allow fewer. */
  static long mostFrameBytes(ChannelSettings settings) {
    return new ConnectionShape(requests(settings), 0).frames() * (long) WireLimits.FRAME_BYTES;
  }

  private static int requests(ChannelSettings settings) {
    return settings.requestsInFlight() + 1;
  }

  private static int requests(ChannelSettings settings, DeviceAttributes attributes) {
    return Math.max(2, Math.min(requests(settings), attributes.maxQpWr() / 2));
  }

  /** Everything posted at a time: when a queue pair breaks, each of it completes. */
  int entries() {
    return 2 * requests + reads;
  }

  /** Frames to send come first, then those to receive. */
  int frames() {
    return 2 * requests;
  }

  QueuePairCapacity capacity() {
    return new QueuePairCapacity(requests + reads, requests);
  }
}
