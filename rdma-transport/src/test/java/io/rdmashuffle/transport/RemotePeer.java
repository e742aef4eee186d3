package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * A transport of this process that reads the blocks of a {@link RemoteOwner}. Its deadlines are the
 * product's, but for connecting, which takes an emulated JVM longer: tests measure against {@link
 * #LIMIT}.
 */
final class RemotePeer implements AutoCloseable {
  /** A fetch is over by then, whatever happened; far longer than its own deadline. */
  static final Duration LIMIT = Duration.ofSeconds(100);

  private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int COMMAND_TIMEOUT_MS = 10_000;
  private final RdmaTransport transport;
  private final int blockBytes;
  private volatile Peer owner;

  RemotePeer(VerbsProvider provider, InetAddress local, InetSocketAddress commands, int blockBytes)
      throws TransportException {
    this.blockBytes = blockBytes;
    follow(commands);
    MemoryBudget.Bound bound = new MemoryBudget.Bound(256 << 20, "the test's bound", "none");
    transport =
        RdmaTransport.open(
            new Transport.Site(provider.lent(), local, "reader", NanoClock.system()),
            new RdmaTransport.Engine(new Outputs(null), this::discover),
            settings(bound));
  }

  private static TransportSettings settings(MemoryBudget.Bound bound) {
    TransportSettings product = TransportSettings.defaults(bound);
    ChannelSettings usual = product.channel();
    ChannelSettings patient = usual.withConnectTimeout(Patience.of(usual.connectTimeout()));
    return new TransportSettings(
        patient, product.server(), product.client(), bound, product.overflow());
  }

  /** From now on the owner is the one that takes commands there. */
  void follow(InetSocketAddress commands) {
    owner =
        new Peer("owner at " + commands.getPort(), commands.getHostString(), commands.getPort());
  }

  RdmaTransport transport() {
    return transport;
  }

  private CompletableFuture<Discovery.Invitation> discover(Peer peer) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            String[] words = command(peer, "ticket").split(" ");
            return new Discovery.Invitation.Ticket(
                List.of(new InetSocketAddress(words[0], Integer.parseInt(words[1]))),
                Long.parseLong(words[2]),
                HexFormat.of().parseHex(words[3]));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  /** Switches the owner's machine off, from one moment to the next. */
  void powerOffOwner() throws IOException {
    try (Socket socket = new Socket(owner.host(), owner.port())) {
      socket.getOutputStream().write("power-off\n".getBytes(StandardCharsets.US_ASCII));
    }
  }

  private static String command(Peer peer, String command) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(peer.host(), peer.port()), COMMAND_TIMEOUT_MS);
      socket.setSoTimeout(COMMAND_TIMEOUT_MS);
      socket.getOutputStream().write((command + "\n").getBytes(StandardCharsets.US_ASCII));
      String answer =
          new BufferedReader(
                  new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
              .readLine();
      if (answer == null) {
        throw new IOException(command + ": no answer of " + peer);
      }
      return answer;
    }
  }

  /** Starts to fetch some blocks. */
  Collected fetch(int first, int end) {
    Collected fetch =
        new Collected(IntStream.range(first, end).mapToObj(RemoteOwner::key).toList());
    transport.client().fetch(owner, fetch.keys(), fetch);
    return fetch;
  }

  /**
   * Waits for a fetch, within {@link #LIMIT}; what came must be right.
   *
   * @return how many blocks came
   */
  int check(Collected fetch) throws Exception {
    fetch.await(LIMIT);
    int arrived = 0;
    for (int i = 0; i < fetch.keys().size(); i++) {
      if (fetch.reason(i) == null) {
        try (Block block = fetch.block(i)) {
          byte[] expected = Pattern.block(fetch.keys().get(i).firstPartition(), blockBytes);
          assertThat(Arrays.equals(block.stream().readAllBytes(), expected))
              .as("bytes of %s", block)
              .isTrue();
        }
        arrived++;
      }
    }
    return arrived;
  }

  /** Waits until a block comes by RDMA again. */
  void awaitRdma(Duration limit) throws Exception {
    long deadlineNs = System.nanoTime() + limit.toNanos();
    Collected last = fetch(0, 1);
    while (check(last) == 0) {
      assertThat(System.nanoTime() - deadlineNs)
          .as("a block by RDMA wanted; the last fell back for %s", last.reasons())
          .isNegative();
      LockSupport.parkNanos(PAUSE_NS);
      last = fetch(0, 1);
    }
  }

  @Override
  public void close() {
    transport.close();
  }
}
