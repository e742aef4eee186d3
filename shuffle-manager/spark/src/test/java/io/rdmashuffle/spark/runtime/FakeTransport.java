package io.rdmashuffle.spark.runtime;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.PeerTransport;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.server.OutputFile;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;

/** Remembers what it was told. */
final class FakeTransport implements PeerTransport {
  final List<OutputFile> forgotten = new ArrayList<>();
  final CountDownLatch closed = new CountDownLatch(1);
  final CompletableFuture<String> lost = new CompletableFuture<>();
  private final Counters counters = new Counters();

  @Override
  public String describe() {
    return "fake0 (10.0.0.1)";
  }

  @Override
  public BlockClient client() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void forget(Collection<OutputFile> files) {
    forgotten.addAll(files);
  }

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
    return lost;
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
