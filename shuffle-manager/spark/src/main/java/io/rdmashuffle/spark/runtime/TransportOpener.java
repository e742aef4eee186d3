package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.transport.TransportException;

/** Finds a device and starts the transport on it. */
@FunctionalInterface
public interface TransportOpener {
  /**
   * Called once, on a thread of its own; may block. Logs which device is used. If it throws,
   * nothing is left open.
   *
   * @throws TransportException if no device is usable; the message says why and what to do
   */
  OpenedTransport open() throws TransportException;
}
