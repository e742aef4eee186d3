package io.rdmashuffle.transport.testing;

import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.PeerTransport;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.server.OutputFile;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/** A transport on no adapter; a test overrides what it needs. Any thread. */
public class TestTransport implements PeerTransport {
  private final Counters counters = new Counters();
  private final CompletableFuture<String> lost = new CompletableFuture<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  /** Counted down when it is closed. */
  public final CountDownLatch closed() {
    return closed;
  }

  /** The test completes it. */
  @Override
  public final CompletableFuture<String> lost() {
    return lost;
  }

  @Override
  public final Counters counters() {
    return counters;
  }

  @Override
  public final Map<String, Long> levels() {
    return Map.of("bytes.registered", 4096L);
  }

  @Override
  public final String describe() {
    return "test0 at 10.0.0.1";
  }

  @Override
  public final Invitation.Ticket issueTicket() {
    return new Invitation.Ticket(
        List.of(new InetSocketAddress("10.0.0.1", 4711)), 7, new byte[] {1});
  }

  @Override
  public BlockClient client() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void forget(Collection<OutputFile> files) {}

  @Override
  public void close() {
    closed.countDown();
  }
}
