package io.rdmashuffle.transport.testing.fake;

/** The kinds of objects the fabric counts while they are open. */
public enum Resource {
  MAPPING,
  REGION,
  DOMAIN,
  QUEUE_PAIR,
  COMPLETION_QUEUE,
  CM_ID,
  CM_CHANNEL,
  DEVICE
}
