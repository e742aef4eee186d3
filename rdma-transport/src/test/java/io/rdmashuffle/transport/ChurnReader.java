package io.rdmashuffle.transport;

import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * A process that opens a transport, reads blocks of a {@link RemoteOwner} at random, closes it, one
 * time in four under READs, and begins anew. Prints {@code CHURNED} with counts in the end.
 * Arguments: port for the owner's commands, bytes per block, blocks, seconds, seed.
 */
final class ChurnReader {
  private static final Duration WARM_UP = Duration.ofSeconds(120);
  private static final int MOST_FETCHES = 8;

  private final DisniProvider provider;
  private final InetSocketAddress owner;
  private final int blockBytes;
  private final int blocks;
  private final Random random;
  private long arrived;

  private ChurnReader(DisniProvider provider, List<Integer> arguments, long seed) {
    this.provider = provider;
    this.owner = new InetSocketAddress("127.0.0.1", arguments.get(0));
    this.blockBytes = arguments.get(1);
    this.blocks = arguments.get(2);
    this.random = new Random(seed);
  }

  public static void main(String[] args) throws Exception {
    List<Integer> arguments = List.of(args).subList(0, 4).stream().map(Integer::valueOf).toList();
    long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(arguments.get(3));
    int connections = 0;
    try (DisniProvider provider = TestDevice.chosen().load()) {
      ChurnReader reader = new ChurnReader(provider, arguments, Long.parseLong(args[4]));
      do {
        reader.connectAndRead();
        connections++;
      } while (System.nanoTime() - endNs < 0);
      if (provider.openObjects() != 0) {
        throw new IllegalStateException(provider.openObjects() + " objects are left open");
      }
      System.out.printf("CHURNED %d connections, %d blocks%n", connections, reader.arrived);
    }
  }

  private void connectAndRead() throws Exception {
    Collected running = null;
    RemotePeer peer = new RemotePeer(provider, TestDevice.chosen().address(), owner, blockBytes);
    try (peer) {
      peer.awaitRdma(WARM_UP);
      for (int i = random.nextInt(MOST_FETCHES); i >= 0; i--) {
        int first = random.nextInt(blocks);
        arrived += peer.check(peer.fetch(first, first + 1 + random.nextInt(blocks - first)));
      }
      if (random.nextInt(4) == 0) {
        running = peer.fetch(0, blocks);
      }
    }
    if (running != null) {
      running.await(RemotePeer.LIMIT).close();
    }
    checkNothingIsLeft(peer);
  }

  private static void checkNothingIsLeft(RemotePeer peer) throws IOException {
    if (peer.transport().levels().values().stream().anyMatch(level -> level != 0)) {
      throw new IOException("left after close: " + peer.transport().levels());
    }
  }
}
