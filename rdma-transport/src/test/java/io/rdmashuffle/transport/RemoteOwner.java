package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.TestDevice;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;

/**
 * A process that owns one map output, on this host or another, for tests to READ, kill and cut off.
 * Its content follows from its place ({@link Pattern}), so a reader needs no copy of it.
 *
 * <p>Arguments: port for commands, folder, bytes per block, blocks. A command is a line over TCP:
 * {@code ticket} is answered with host, port, credential and secret; {@code power-off} switches the
 * machine off at once, without a farewell to anybody.
 */
final class RemoteOwner implements BlockCatalog {
  private final BlockLocation[] blocks;

  private RemoteOwner(Path folder, int blockBytes, int count) throws IOException {
    Path path = Files.createTempFile(folder, "remote", ".data");
    try (PrintStream out = new PrintStream(Files.newOutputStream(path))) {
      for (int i = 0; i < count; i++) {
        out.write(Pattern.block(i, blockBytes));
      }
    }
    OutputFile file = new OutputFile(path, (long) blockBytes * count);
    blocks = new BlockLocation[count];
    for (int i = 0; i < count; i++) {
      blocks[i] = new BlockLocation(file, (long) i * blockBytes, blockBytes);
    }
  }

  public static void main(String[] args) throws Exception {
    TestDevice device = TestDevice.chosen();
    RemoteOwner catalog =
        new RemoteOwner(Path.of(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]));
    MemoryBudget.Bound bound = new MemoryBudget.Bound(512 << 20, "the test's bound", "none");
    try (DisniProvider provider = device.load();
        RdmaTransport transport =
            RdmaTransport.open(
                new Transport.Site(provider, device.address(), "remote", NanoClock.system()),
                new RdmaTransport.Engine(
                    catalog,
                    peer ->
                        CompletableFuture.completedFuture(
                            new Invitation.None(FallbackReason.NO_DEVICE, "reads nothing"))),
                Patience.transportDefaults(bound));
        ServerSocket commands = new ServerSocket(Integer.parseInt(args[0]))) {
      System.out.println("READY " + commands.getLocalPort());
      while (true) {
        try (Socket peer = commands.accept()) {
          answer(peer, transport);
        }
      }
    }
  }

  private static void answer(Socket peer, RdmaTransport transport) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(peer.getInputStream(), StandardCharsets.US_ASCII));
    if ("power-off".equals(in.readLine())) {
      Files.writeString(Path.of("/proc/sysrq-trigger"), "o");
      return;
    }
    TicketOffice.Ticket ticket = transport.tickets().issue();
    String line =
        String.join(
            " ",
            transport.listenAddress().getAddress().getHostAddress(),
            String.valueOf(transport.listenAddress().getPort()),
            String.valueOf(ticket.credentialId()),
            HexFormat.of().formatHex(ticket.secret()));
    peer.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
  }

  /** The key of a block. */
  static BlockKey key(int block) {
    return new BlockKey(1, 0, block, block + 1);
  }

  @Override
  public BlockLocation find(long scope, BlockKey key) {
    return key.firstPartition() < blocks.length ? blocks[key.firstPartition()] : null;
  }

  @Override
  public BlockLocation load(long scope, BlockKey key) {
    return find(scope, key);
  }
}
