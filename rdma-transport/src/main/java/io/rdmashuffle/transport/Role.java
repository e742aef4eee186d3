package io.rdmashuffle.transport;

import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import java.util.Map;

/**
 * What a transport is for, and with it how its registered memory is divided: guaranteed shares of
 * the budget, and the most of it that blocks may be read into. Windows take whatever is left.
 */
enum Role {
  /** Serves and reads. A reader that gets no memory helps nobody. */
  PEER(Map.of(Use.READER_POOL, 30, Use.STAGING, 15, Use.MESSAGES, 10), 50),
  /** Serves only. */
  OWNER(Map.of(Use.STAGING, 25, Use.MESSAGES, 10), 0),
  /** Reads only. */
  READER(Map.of(Use.READER_POOL, 60, Use.MESSAGES, 10), 90);

  private final Map<Use, Integer> guaranteedPercent;
  private final int poolPercent;

  Role(Map<Use, Integer> guaranteedPercent, int poolPercent) {
    this.guaranteedPercent = guaranteedPercent;
    this.poolPercent = poolPercent;
  }

  Map<Use, Integer> guaranteedPercent() {
    return guaranteedPercent;
  }

  /** Most of the budget that blocks may be read into. */
  int poolPercent() {
    return poolPercent;
  }

  boolean serves() {
    return this != READER;
  }

  boolean reads() {
    return this != OWNER;
  }

  /** Registered memory that the settings ask for. */
  long wantedBytes(TransportSettings settings) {
    return (reads() ? settings.client().poolBytes() : 0)
        + (serves() ? settings.server().stagingBytes() : 0);
  }
}
