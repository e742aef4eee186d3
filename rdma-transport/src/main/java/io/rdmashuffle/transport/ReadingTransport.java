package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.BlockClient;

/** A {@link Transport} that fetches blocks of other processes. */
public interface ReadingTransport extends Transport {
  /** Closed by the transport. */
  BlockClient client();
}
