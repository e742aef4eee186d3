package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.Counters;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.handover.Threads;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.memory.RegisteredMemory;
import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.Device;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An owner and a reader with their real threads. The owner grants parts of one region: of block
 * {@code output}, the bytes from {@link #offset} on.
 */
final class LayerRig implements AutoCloseable {
  static final int REGION_BYTES = 1 << 20;
  static final byte[] SECRET = "shared".getBytes(StandardCharsets.US_ASCII);
  static final long JOB = 3;

  final ChannelLayer owner;
  final ChannelLayer reader;
  final Counters readerCounters = new Counters();
  final Counters ownerCounters = new Counters();
  final RegisteredMemory source;
  final RegisteredMemory sink;
  final AtomicInteger sessionsOpen = new AtomicInteger();
  private final MemoryBudget budget =
      MemoryBudget.of(List.of(new MemoryBudget.Bound(512 << 20, "test", "none")), Map.of());
  private final CloseStack parts = new CloseStack();
  private final VerbsProvider provider;
  private final ByteBuffer sourceView;

  LayerRig(
      VerbsProvider provider,
      InetAddress ownerAddress,
      InetAddress readerAddress,
      ChannelSettings settings)
      throws TransportException {
    this.provider = provider;
    Device ownerDevice = parts.push(provider.open(ownerAddress));
    Device readerDevice = parts.push(provider.open(readerAddress));
    ProtectionDomain ownerDomain = parts.push(ownerDevice.allocateProtectionDomain());
    ProtectionDomain readerDomain = parts.push(readerDevice.allocateProtectionDomain());
    source = parts.push(register(ownerDomain, Access.REMOTE_READ));
    sink = parts.push(register(readerDomain, Access.LOCAL_WRITE));
    sourceView = source.view(0, REGION_BYTES);
    byte[] bytes = new byte[REGION_BYTES];
    new Random(5).nextBytes(bytes);
    sourceView.duplicate().put(bytes);
    owner = parts.push(open(ownerDevice, ownerDomain, ownerCounters, settings));
    reader = parts.push(open(readerDevice, readerDomain, readerCounters, settings));
    TestCredentials credentials = new TestCredentials(ownerDomain);
    credentials.addJob(JOB, SECRET);
    owner.listen(0, credentials, this::newSession);
  }

  private RegisteredMemory register(ProtectionDomain domain, Access access)
      throws TransportException {
    return new MemorySource(provider.hostMemory(), domain, budget, MemoryBudget.Use.STAGING, access)
        .allocate(REGION_BYTES);
  }

  private ChannelLayer open(
      Device device, ProtectionDomain domain, Counters counters, ChannelSettings settings)
      throws TransportException {
    ChannelParts channelParts =
        new ChannelParts(
            device, provider.hostMemory(), domain, budget, counters, NanoClock.system());
    return ChannelLayer.open(channelParts, settings, new Threads("test", Gate.OPEN));
  }

  Dialer.Target target(InetAddress ownerAddress) {
    return new Dialer.Target(
        "owner", new InetSocketAddress(ownerAddress, owner.listenPort()), JOB, SECRET);
  }

  static int offset(long output) {
    return (int) (output * 4093 % (REGION_BYTES / 2));
  }

  /** Whether the sink holds the block at the given place. */
  boolean hasArrived(long output, int sinkOffset, int bytes) {
    return sourceView.slice(offset(output), bytes).equals(sink.view(sinkOffset, bytes));
  }

  private OwnerChannel.Session newSession(OwnerChannel channel) {
    sessionsOpen.incrementAndGet();
    return new OwnerChannel.Session() {
      @Override
      public void onRequest(int requestId, Request request) {
        channel.reply(requestId, answer(request));
      }

      @Override
      public void onClosed(TransportException cause) {
        sessionsOpen.decrementAndGet();
      }
    };
  }

  private Reply answer(Request request) {
    if (!(request instanceof Request.Locate locate)) {
      return new Reply.Released();
    }
    List<Reply.Answer> answers = new ArrayList<>(locate.keys().size());
    for (var key : locate.keys()) {
      int bytes = key.endPartition() - key.firstPartition();
      long address = source.address() + offset(key.output());
      answers.add(
          new Reply.Granted(0, false, List.of(new Reply.Piece(address, source.rkey(), bytes))));
    }
    return new Reply.Located(1, answers);
  }

  @Override
  public void close() {
    parts.close();
    if (budget.usedBytes() != 0) {
      throw new AssertionError(budget.usedBytes() + " bytes still reserved");
    }
  }
}
