package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ConnectionCapException;
import io.rdmashuffle.transport.channel.testing.ScriptedDialer.Dialled;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel.PendingRead;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Everything at once and at random: peers, sizes, memory, orders and faults. Whatever happens, each
 * index is reported once, with the right bytes if it is a block, and no memory is left behind.
 */
final class SimulationTest {
  private static final int STEPS = 4000;
  private static final int PEERS = 12;

  private final List<Results> fetches = new ArrayList<>();
  private final List<ScriptedReaderChannel> channels = new ArrayList<>();
  private final Owner owner = new Owner(0);
  private Random random;
  private ClientRig rig;
  private long arrived;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void everyIndexIsReportedOnceAndNoMemoryIsLost(long seed) {
    simulate(seed);
  }

  @Test
  void theSameWithASeedNeverTriedBefore() {
    simulate(System.nanoTime());
  }

  private void simulate(long seed) {
    System.out.println("simulation of fetches, seed " + seed);
    random = new Random(seed);
    int chunks = 3 + random.nextInt(14);
    rig =
        new ClientRig(
            Setup.standard()
                .withChunks(chunks, 1 + random.nextInt(chunks - 1))
                .withOverflow(1 + random.nextInt(40))
                .withWindow(50_000 + random.nextInt(500_000))
                .withReadBytes(1000 + random.nextInt(64 << 10)));
    rig.discovery.manual();
    owner.answerWith(this::someAnswer);

    for (int i = 0; i < STEPS; i++) {
      step();
    }
    finish();

    assertThat(fetches).allMatch(Results::isComplete);
    long asked = fetches.stream().mapToLong(results -> results.keys().size()).sum();
    System.out.println(arrived + " of " + asked + " blocks arrived");
    assertThat(arrived).as("something arrived").isPositive();
    rig.close();
  }

  private Reply.Answer someAnswer(BlockKey key) {
    int dice = random.nextInt(20);
    if (dice == 0) {
      return new Reply.NotByRdma(FallbackReason.UNKNOWN_BLOCK);
    }
    if (dice < 3) {
      owner.place(key, random.nextInt(500));
      return new Reply.Inline(0, owner.content(key));
    }
    int[] pieces = new int[random.nextInt(4)];
    int largest = dice == 3 ? 400_000 : dice < 8 ? 60_000 : 6000;
    for (int i = 0; i < pieces.length; i++) {
      pieces[i] = random.nextInt(largest);
    }
    owner.place(key, pieces);
    return random.nextBoolean() ? owner.granted(key) : owner.staged(key);
  }

  private void step() {
    switch (random.nextInt(16)) {
      case 0, 1 -> fetch();
      case 2 -> discover();
      case 3, 4 -> dial();
      case 5, 6, 7 -> reply();
      case 8, 9, 10 -> completeRead();
      case 11, 12 -> consume();
      case 13 -> rig.advance(Duration.ofMillis(random.nextInt(20)));
      case 14 -> rarely();
      default -> runSomeThread();
    }
    if (random.nextInt(3) == 0) {
      rig.loop.runAll();
    }
  }

  private void fetch() {
    int size = random.nextInt(10) == 0 ? random.nextInt(600) : 1 + random.nextInt(20);
    List<BlockKey> keys = rig.keys(size);
    Results results = new Results(keys);
    fetches.add(results);
    rig.client.fetch(peer(), keys, results);
  }

  private Peer peer() {
    int id = random.nextInt(PEERS);
    return new Peer("peer-" + id, "host-" + id, 7337);
  }

  private void discover() {
    if (rig.discovery.count() == 0) {
      return;
    }
    ScriptedDiscovery.Asked asked = rig.discovery.last();
    switch (random.nextInt(12)) {
      case 0 -> asked.answer().completeExceptionally(new IOException("simulated"));
      case 1 ->
          asked
              .answer()
              .complete(new Invitation.None(FallbackReason.PEER_WITHOUT_RDMA, "simulated"));
      default -> asked.answer(ScriptedDiscovery.address(1), ScriptedDiscovery.address(2));
    }
  }

  private void dial() {
    rig.advance(Duration.ofMillis(2));
    List<Dialled> pending = rig.dialer.pending();
    if (pending.isEmpty()) {
      return;
    }
    Dialled dialled = pending.get(random.nextInt(pending.size()));
    if (random.nextInt(8) == 0) {
      dialled.fail(
          random.nextBoolean()
              ? new ConnectionCapException("simulated")
              : new TransportException(Kind.PEER_LOST, "simulated"));
    } else {
      ScriptedReaderChannel channel =
          dialled.connect(1 + random.nextInt(4), 1 + random.nextInt(64));
      channels.add(channel);
    }
  }

  private ScriptedReaderChannel someChannel() {
    return channels.isEmpty() ? null : channels.get(random.nextInt(channels.size()));
  }

  private void reply() {
    ScriptedReaderChannel channel = someChannel();
    if (channel != null && channel.closeCause() == null && !channel.requests().isEmpty()) {
      owner.answersPerReply(random.nextInt(10) == 0 ? 1 + random.nextInt(5) : Integer.MAX_VALUE);
      owner.answer(channel.requests().get(random.nextInt(channel.requests().size())));
    }
  }

  private void completeRead() {
    ScriptedReaderChannel channel = someChannel();
    if (channel == null) {
      return;
    }
    if (channel.closeCause() != null) {
      if (random.nextInt(3) == 0) {
        finishClose(channel);
      }
    } else if (!channel.reads().isEmpty()) {
      rig.complete(channel.reads().get(random.nextInt(channel.reads().size())));
    }
  }

  private void finishClose(ScriptedReaderChannel channel) {
    // Until now the adapter may write wherever a READ is posted.
    channel.reads().forEach(chain -> chain.posted().forEach(rig.memory::land));
    channel.finishClose();
    channels.remove(channel);
  }

  private void consume() {
    if (!fetches.isEmpty()) {
      Results results = fetches.get(random.nextInt(fetches.size()));
      check(results);
    }
  }

  private void check(Results results) {
    arrived += results.held();
    results.checkWhatCame(owner);
  }

  private void rarely() {
    switch (random.nextInt(40)) {
      case 0, 1, 2 -> {
        ScriptedReaderChannel channel = someChannel();
        if (channel != null) {
          channel.fail(new TransportException(Kind.PEER_LOST, "simulated"));
        }
      }
      case 3 -> rig.client.forget(peer().id());
      case 13, 14, 15, 16, 17, 18 -> refuseRead();
      case 4, 5 -> rig.advance(Duration.ofMillis(600));
      case 6, 7, 8 -> rig.advance(Duration.ofSeconds(2));
      case 9 -> rig.advance(Duration.ofSeconds(random.nextInt(40)));
      case 10 -> rig.portEvent(AsyncEvent.Type.PORT_DOWN);
      case 11, 12 -> rig.portEvent(AsyncEvent.Type.PORT_ACTIVE);
      default -> rig.settle();
    }
  }

  private void refuseRead() {
    ScriptedReaderChannel channel = someChannel();
    if (channel != null && !channel.reads().isEmpty()) {
      PendingRead chain = channel.reads().get(random.nextInt(channel.reads().size()));
      chain.refuse(random.nextInt(chain.posted().size()));
    }
  }

  private void runSomeThread() {
    switch (random.nextInt(4)) {
      case 0 -> rig.threads.copy().runAll();
      case 1 -> rig.threads.delivery().runAll();
      case 2 -> rig.threads.slow().runAll();
      default -> rig.loop.runAll();
    }
  }

  /** Half of the runs are stopped in the middle; the others may run into their deadlines. */
  private void finish() {
    if (random.nextBoolean()) {
      rig.client.close();
      rig.settle();
    }
    for (int s = 0; s < 40; s++) {
      rig.advance(Duration.ofSeconds(1));
      for (ScriptedReaderChannel channel : List.copyOf(channels)) {
        if (channel.closeCause() != null) {
          finishClose(channel);
        }
      }
    }
    for (ScriptedReaderChannel channel : List.copyOf(channels)) {
      channel.fail(new TransportException(Kind.PEER_LOST, "simulated end"));
      finishClose(channel);
    }
    rig.settle();
    fetches.forEach(this::check);
  }
}
