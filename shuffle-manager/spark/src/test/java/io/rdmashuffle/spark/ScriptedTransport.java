package io.rdmashuffle.spark;

import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.testing.TestTransport;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.ArrayList;
import java.util.List;

/** A transport that only records fetches; tests answer them through the listener. */
final class ScriptedTransport extends TestTransport implements BlockClient {
  record Fetched(Peer peer, List<BlockKey> keys, FetchListener listener) {}

  final List<Fetched> fetches = new ArrayList<>();
  RuntimeException thrown;
  Error shortage; // where the request is prepared

  @Override
  public void fetch(Peer peer, List<BlockKey> keys, FetchListener listener) {
    fetches.add(new Fetched(peer, keys, listener));
    if (thrown != null) {
      throw thrown;
    }
  }

  @Override
  public void forget(String peerId) {}

  @Override
  public BlockClient client() {
    if (shortage != null) {
      throw shortage;
    }
    return this;
  }
}
