package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.client.Discovery;

/** Finds a device and starts a transport on it. */
@FunctionalInterface
interface ReaderOpener {
  /**
   * May block. Logs which device is used.
   *
   * @param processName for logs and names of threads
   * @param discovery lent; outlives the transport
   * @throws TransportException if no device is usable; nothing is left open, and the message says
   *     why and what to do
   */
  OpenedReader open(ReduceSettings settings, String processName, Discovery discovery)
      throws TransportException;
}
