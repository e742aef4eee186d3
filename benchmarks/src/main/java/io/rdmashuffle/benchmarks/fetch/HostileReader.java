package io.rdmashuffle.benchmarks.fetch;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ChannelLayer;
import io.rdmashuffle.transport.channel.ChannelParts;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.channel.Dialer;
import io.rdmashuffle.transport.channel.ReaderChannel;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.handover.Work;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.disni.DisniProvider;
import io.rdmashuffle.transport.verbs.disni.DisniProviders;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireLimits;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Asks for the same blocks as fast as it can and returns no lease. Arguments: layout. Each line of
 * standard input is an owner's endpoint; it connects there, and answers {@code CUT} with the number
 * of its requests that were answered when the owner has ended the connection, or made none.
 */
public final class HostileReader implements ReaderChannel.Listener, ReaderChannel.ReplyHandler {
  private static final long BUDGET_BYTES = 64 << 20;

  private final ChannelLayer layer;
  private final long timeoutNs;
  private final Request everything;
  private ReaderChannel channel;
  private long answered;

  private HostileReader(ChannelLayer layer, ChannelSettings settings, Layout layout) {
    this.layer = layer;
    this.timeoutNs = settings.requestTimeout().toNanos();
    List<BlockKey> keys =
        IntStream.range(0, Math.min(layout.blocks(), WireLimits.KEYS_PER_LOCATE))
            .mapToObj(i -> key(i % layout.maps(), i / layout.maps()))
            .toList();
    this.everything = new Request.Locate(keys, new long[0]);
  }

  private static BlockKey key(int map, int partition) {
    return new BlockKey(0, map, partition, partition + 1);
  }

  public static void main(String[] arguments) throws Exception {
    Layout layout = Layout.parse(arguments, 0);
    ChannelSettings settings = ChannelSettings.defaults();
    try (CloseStack parts = new CloseStack();
        BufferedReader input =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      HostileReader reader = new HostileReader(open(settings, parts), settings, layout);
      System.out.println("READY");
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        reader.dial(RdmaFetch.ticket(line));
      }
    }
    System.exit(0);
  }

  private static ChannelLayer open(ChannelSettings settings, CloseStack parts)
      throws TransportException {
    DisniProvider provider = parts.push(DisniProviders.soft());
    Device device = parts.push(provider.open(InetAddress.getLoopbackAddress()));
    MemoryBudget budget =
        MemoryBudget.of(
            List.of(new MemoryBudget.Bound(BUDGET_BYTES, "the benchmark", "it is fixed")),
            Map.of());
    ChannelParts lent =
        new ChannelParts(
            device,
            provider.hostMemory(),
            parts.push(device.allocateProtectionDomain()),
            budget,
            new Counters(),
            NanoClock.system());
    return parts.push(ChannelLayer.open(lent, settings, new Threads("hostile", Gate.OPEN)));
  }

  private void dial(Invitation.Ticket ticket) {
    Dialer.Target target =
        new Dialer.Target(
            "owner", ticket.addresses().get(0), ticket.credentialId(), ticket.secret());
    layer.loop().execute(Work.of(() -> layer.dialer().dial(target, this)));
  }

  @Override
  public void onOpen(ReaderChannel opened) {
    channel = opened;
    answered = 0;
    ask();
  }

  private void ask() {
    while (channel.requestCredits() > 0) {
      channel.request(everything, timeoutNs, this);
    }
  }

  @Override
  public void onReply(Reply reply) {
    answered++;
    ask();
  }

  @Override
  public void onFailed(TransportException cause) {
    // onClosed follows
  }

  @Override
  public void onDialFailed(TransportException cause) {
    System.err.println(cause.getMessage());
    System.out.println("CUT 0");
  }

  @Override
  public void onClosed(TransportException cause) {
    System.out.println("CUT " + answered);
  }
}
