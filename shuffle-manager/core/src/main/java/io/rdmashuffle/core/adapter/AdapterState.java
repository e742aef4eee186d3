package io.rdmashuffle.core.adapter;

import io.rdmashuffle.transport.Transport;

/**
 * Whether a process has an adapter now.
 *
 * @param <T> what it does with it
 */
public sealed interface AdapterState<T extends Transport> {
  /** It has; the life cycle closes the transport. */
  record Open<T extends Transport>(T transport) implements AdapterState<T> {}

  /** It has none, or no longer. */
  record Absent<T extends Transport>(String why, Outlook outlook) implements AdapterState<T> {}

  /** What those who ask later will find. */
  enum Outlook {
    /** It is being opened, or will be tried again. */
    NOT_YET,
    /** There will be none for the life of this process. */
    NEVER
  }
}
