package io.rdmashuffle.spark;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.PeerTransport;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.wire.BlockKey;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A transport that only records fetches; tests answer them through the listener. */
final class ScriptedTransport implements PeerTransport, BlockClient {
  record Fetched(Peer peer, List<BlockKey> keys, FetchListener listener) {}

  final List<Fetched> fetches = new ArrayList<>();
  RuntimeException thrown;
  Error shortage; // where the request is prepared
  private final Counters counters = new Counters();

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
  public String describe() {
    return "scripted0";
  }

  @Override
  public BlockClient client() {
    if (shortage != null) {
      throw shortage;
    }
    return this;
  }

  @Override
  public void forget(Collection<OutputFile> files) {}

  @Override
  public Invitation.Ticket issueTicket() {
    return new Invitation.Ticket(
        List.of(new InetSocketAddress("10.0.0.1", 4711)), 7, new byte[] {1});
  }

  @Override
  public Counters counters() {
    return counters;
  }

  @Override
  public Map<String, Long> levels() {
    return Map.of("bytes.registered", 4096L);
  }

  @Override
  public CompletionStage<String> lost() {
    return new CompletableFuture<>();
  }

  @Override
  public void close() {}
}
