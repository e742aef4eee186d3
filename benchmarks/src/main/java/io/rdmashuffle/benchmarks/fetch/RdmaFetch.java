package io.rdmashuffle.benchmarks.fetch;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.TicketOffice;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;

/**
 * This transport on the software adapter, with its default settings. What does not come by RDMA
 * comes by Spark's block transfer, as in the plugin.
 */
final class RdmaFetch implements FetchTransport, FetchTransport.Owner {
  private static final String ENGINE_MODE = "AUTO";
  private static final Peer OWNER = new Peer("owner", "127.0.0.1", 1);

  private final CloseStack parts;
  private final RdmaTransport transport;
  private final NettyFetch engine;
  private final LongAdder byNetty = new LongAdder();

  private RdmaFetch(CloseStack parts, RdmaTransport transport, NettyFetch engine) {
    this.parts = parts;
    this.transport = transport;
    this.engine = engine;
  }

  static RdmaFetch owner(Layout layout) throws IOException {
    return open("owner", layout, peer -> none(), NettyFetch.owner(layout, ENGINE_MODE));
  }

  /**
   * @param endpoint of the owner: port, ticket, secret, and the port of its engine
   */
  static RdmaFetch reader(Layout layout, String endpoint) throws IOException {
    Discovery.Invitation invitation = ticket(endpoint);
    return open(
        "reader",
        layout,
        peer -> CompletableFuture.completedFuture(invitation),
        NettyFetch.reader(layout, ENGINE_MODE, endpoint.split("/")[3]));
  }

  static Discovery.Invitation.Ticket ticket(String endpoint) {
    String[] words = endpoint.split("/");
    return new Discovery.Invitation.Ticket(
        List.of(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0]))),
        Long.parseLong(words[1]),
        HexFormat.of().parseHex(words[2]));
  }

  private static CompletableFuture<Discovery.Invitation> none() {
    return CompletableFuture.completedFuture(
        new Discovery.Invitation.None(FallbackReason.PEER_WITHOUT_RDMA, "the owner reads nothing"));
  }

  private static RdmaFetch open(String name, Layout layout, Discovery discovery, NettyFetch engine)
      throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      undo.push(engine);
      DisniProvider provider = undo.push(DisniProviders.soft());
      RdmaTransport transport =
          undo.push(
              RdmaTransport.open(
                  new Transport.Site(
                      provider, InetAddress.getLoopbackAddress(), name, NanoClock.system()),
                  new RdmaTransport.Engine(new Files(layout), discovery),
                  TransportSettings.defaults(
                      new MemoryBudget.Bound(
                          layout.registeredBytes(), "the benchmark", "it is fixed"))));
      return new RdmaFetch(undo.handOver(), transport, engine);
    }
  }

  @Override
  public String endpoint() {
    TicketOffice.Ticket ticket = transport.tickets().issue();
    return transport.listenAddress().getPort()
        + "/"
        + ticket.credentialId()
        + "/"
        + HexFormat.of().formatHex(ticket.secret())
        + "/"
        + engine.endpoint();
  }

  @Override
  public void fetch(int[] maps, int[] partitions, boolean digest, LongConsumer onBlock) {
    List<BlockKey> keys = new ArrayList<>(maps.length);
    for (int i = 0; i < maps.length; i++) {
      keys.add(new BlockKey(0, maps[i], partitions[i], partitions[i] + 1));
    }
    transport.client().fetch(OWNER, keys, new Listener(maps, partitions, digest, onBlock));
  }

  @Override
  public long byNetty() {
    return byNetty.sum();
  }

  @Override
  public void close() {
    parts.close();
  }

  private final class Listener implements BlockClient.FetchListener {
    private final int[] maps;
    private final int[] partitions;
    private final boolean digest;
    private final LongConsumer onBlock;

    Listener(int[] maps, int[] partitions, boolean digest, LongConsumer onBlock) {
      this.maps = maps;
      this.partitions = partitions;
      this.digest = digest;
      this.onBlock = onBlock;
    }

    @Override
    public void onBlock(int index, Block block) {
      try (block;
          InputStream in = block.stream()) {
        onBlock.accept(digest ? NettyFetch.digestOf(in) : 0);
      } catch (IOException e) {
        onBlock.accept(-1);
      }
    }

    @Override
    public void onFallback(int[] indices, FallbackReason reason) {
      System.err.println(indices.length + " blocks not by RDMA: " + reason.label());
      byNetty.add(indices.length);
      engine.fetch(
          IntStream.of(indices).map(i -> maps[i]).toArray(),
          IntStream.of(indices).map(i -> partitions[i]).toArray(),
          digest,
          onBlock);
    }
  }

  /** Where blocks lie follows from the layout. */
  private static final class Files implements BlockCatalog {
    private final Layout layout;
    private final OutputFile[] files;

    Files(Layout layout) {
      this.layout = layout;
      this.files = new OutputFile[layout.maps()];
      for (int map = 0; map < files.length; map++) {
        files[map] = new OutputFile(layout.file(map), layout.fileBytes());
      }
    }

    @Override
    public BlockLocation find(long scope, BlockKey key) {
      return new BlockLocation(
          files[(int) key.output()],
          (long) key.firstPartition() * layout.blockBytes(),
          (long) (key.endPartition() - key.firstPartition()) * layout.blockBytes());
    }

    @Override
    public BlockLocation load(long scope, BlockKey key) {
      return null; // find knows all there are
    }
  }
}
