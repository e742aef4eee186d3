package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.transport.client.BlockClient;

/**
 * A transport that runs, as this package sees it. Any thread; only {@link #close} waits.
 *
 * @see io.rdmashuffle.transport.ReaderTransport
 */
interface OpenedReader extends AutoCloseable {
  /** Closed with the transport. */
  BlockClient client();

  /** Idempotent. Waits a few seconds at most. */
  @Override
  void close();
}
