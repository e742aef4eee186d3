package io.rdmashuffle.transport;

import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;

/**
 * A process that owns one map output and serves it on {@code soft} until its input ends. Arguments:
 * folder, number of blocks, bytes of a block. Prints port, ticket and secret.
 */
final class OwnerProgram {
  private OwnerProgram() {}

  public static void main(String[] arguments) throws Exception {
    Outputs outputs = new Outputs(Path.of(arguments[0]));
    outputs.write(blockSizes(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2])));
    try (DisniProvider soft = DisniProviders.soft();
        RdmaTransport transport =
            RdmaTransport.open(
                new Transport.Site(
                    soft, InetAddress.getLoopbackAddress(), "owner", NanoClock.system()),
                new RdmaTransport.Engine(outputs, peer -> nobody()),
                TransportSettings.defaults(TransportHarness.ENOUGH))) {
      TicketOffice.Ticket ticket = transport.tickets().issue();
      System.out.println(
          transport.listenAddress().getPort()
              + " "
              + ticket.credentialId()
              + " "
              + HexFormat.of().formatHex(ticket.secret()));
      System.in.transferTo(java.io.OutputStream.nullOutputStream());
    }
  }

  static int[] blockSizes(int blocks, int blockBytes) {
    int[] sizes = new int[blocks];
    java.util.Arrays.fill(sizes, blockBytes);
    return sizes;
  }

  private static CompletableFuture<Invitation> nobody() {
    return CompletableFuture.completedFuture(
        new Invitation.None(FallbackReason.PEER_WITHOUT_RDMA, "this process reads nothing"));
  }
}
