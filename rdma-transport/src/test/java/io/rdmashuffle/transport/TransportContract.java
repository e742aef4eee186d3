package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.ClientSettings;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * What whole transports do for each other: two of them in one JVM, each with files of its own. One
 * subclass per adapter; none may override a test.
 */
abstract class TransportContract extends TransportHarness {
  private Process smallReader(String id) throws Exception {
    ClientSettings standard = Patience.transportDefaults(ENOUGH).client();
    return new Process(
        id,
        smallPool(
            standard.fetchTimeout(),
            Duration.ofSeconds(5),
            standard.breakerMinimum(),
            standard.breakerMaximum()));
  }

  private static int[] sizes(Random random, int count, int below) {
    return random.ints(count, 0, below).toArray();
  }

  @Test
  final void blocksOfEverySizeArriveWithTheirBytes() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys =
        owner.outputs.write(
            0, 1, 100, 512, 513, 4096, 6000, 65_535, 65_536, 65_537, 1 << 20, (3 << 20) + 7, 0, 99);

    Collected blocks = reader.fetch(owner, keys).await().check(owner.outputs);

    assertThat(blocks.arrived()).isEqualTo(keys.size());
    Counters counters = reader.transport.counters();
    assertThat(counters.value(Counter.BYTES_READ)).isGreaterThan(4 << 20);
    assertThat(counters.value(Counter.BLOCKS_INLINE)).isPositive();
    assertThat(counters.readLatency().count()).isPositive();
  }

  @Test
  final void manyMapOutputsOfSmallBlocks() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> spots = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      spots.add(owner.outputs.write(6000, 6000, 6000).get(1));
    }

    assertThat(reader.fetch(owner, spots).await().check(owner.outputs).arrived()).isEqualTo(300);
  }

  @Test
  final void aBlockTheOwnerDoesNotKnowFallsBackAndTheOthersArrive() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = new ArrayList<>(owner.outputs.write(1000, 20_000));
    keys.add(1, new BlockKey(9, 9, 9, 10));

    Collected blocks = reader.fetch(owner, keys).await().checkWhatCame(owner.outputs);

    assertThat(blocks.reason(1)).isEqualTo(FallbackReason.UNKNOWN_BLOCK);
    assertThat(blocks.arrived()).isEqualTo(2);
  }

  @Test
  final void processesReadFromEachOtherAtTheSameTime() throws Exception {
    List<Process> all = List.of(process("a"), process("b"), process("c"));
    Random random = new Random(11);
    List<List<BlockKey>> keys = new ArrayList<>();
    for (Process process : all) {
      keys.add(process.outputs.write(sizes(random, 200, 50_000)));
    }

    List<Collected> fetches = new ArrayList<>();
    List<Process> owners = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      Process reader = all.get(i % 3);
      int owner = (i + 1 + i / 3 % 2) % 3;
      List<BlockKey> some = new ArrayList<>(keys.get(owner));
      Collections.shuffle(some, random);
      fetches.add(reader.fetch(all.get(owner), some.subList(0, 40)));
      owners.add(all.get(owner));
    }

    for (int i = 0; i < fetches.size(); i++) {
      Collected fetch = fetches.get(i).await().check(owners.get(i).outputs);
      assertThat(fetch.reasons()).isEmpty();
    }
    assertThat(all.get(0).transport.counters().value(Counter.CONNECTIONS_OPENED))
        .as("two to others, two from them")
        .isLessThanOrEqualTo(4);
  }

  @Test
  final void aReaderThatHoldsMoreThanItsPoolStillGetsEverything() throws Exception {
    Process owner = process("owner");
    Process reader = smallReader("reader");
    List<BlockKey> keys = owner.outputs.write(sizes(new Random(3), 150, 60_000));
    List<BlockKey> large = owner.outputs.write(5 << 20);

    Collected held = reader.fetch(owner, keys).await();
    Collected others = reader.fetch(owner, keys).await();
    Collected larger = reader.fetch(owner, large).await();

    assertThat(held.reasons()).isEmpty();
    assertThat(others.check(owner.outputs).reasons()).isEmpty();
    assertThat(larger.check(owner.outputs).reasons()).isEmpty();
    held.check(owner.outputs);
    assertThat(reader.transport.counters().value(Counter.BLOCKS_COPIED_OUT)).isPositive();
  }

  @Test
  final void anOwnerThatStopsInTheMiddleCostsFallbacksOnly() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(sizes(new Random(4), 400, 20_000));
    reader.fetch(owner, keys.subList(0, 1)).await().check(owner.outputs);

    List<Collected> fetches =
        IntStream.range(0, 20).mapToObj(i -> reader.fetch(owner, keys)).toList();
    fetches.get(0).await();
    owner.transport.close();

    assertThat(fetches.get(0).reasons()).isEmpty();
    for (Collected fetch : fetches) {
      fetch.await().checkWhatCame(owner.outputs);
    }
    Collected later = reader.fetch(owner, keys.subList(0, 3)).await();
    assertThat(later.arrived()).isZero();
  }

  @Test
  final void aReaderThatStopsInTheMiddleReportsEverything() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(sizes(new Random(5), 400, 20_000));
    reader.fetch(owner, keys.subList(0, 1)).await().check(owner.outputs);
    List<Collected> fetches =
        IntStream.range(0, 20).mapToObj(i -> reader.fetch(owner, keys)).toList();

    reader.transport.close();

    for (Collected fetch : fetches) {
      fetch.await().checkWhatCame(owner.outputs);
    }
    assertThat(reader.fetch(owner, keys).await().reasons()).containsOnly(FallbackReason.STOPPING);
  }

  @Test
  final void blocksStayValidAfterTheirReaderIsClosed() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");

    assertBlocksOutliveTheirReader(owner, reader, 70_000, 900_000);
  }

  @Test
  final void blocksThatWereCopiedOutStayValidAfterTheirReaderIsClosed() throws Exception {
    Process owner = process("owner");
    Process reader = smallReader("reader");

    assertBlocksOutliveTheirReader(owner, reader, 1 << 20); // more than its pool has room for
    assertThat(reader.transport.counters().value(Counter.BLOCKS_COPIED_OUT)).isEqualTo(1);
  }

  private static void assertBlocksOutliveTheirReader(Process owner, Process reader, int... sizes)
      throws Exception {
    Collected held = reader.fetch(owner, owner.outputs.write(sizes)).await();

    reader.transport.close();

    Map<String, Long> levels = reader.transport.levels();
    long chunksOut = levels.get("pool.chunks-out") + levels.get("overflow.chunks-out");
    assertThat(chunksOut).as("%s", levels).isPositive(); // in either: the pool may still be small
    held.check(owner.outputs);
    assertThat(held.arrived()).isEqualTo(sizes.length);
  }

  @Test
  final void filesThatGoAwayAreLetGoOf() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(sizes(new Random(6), 50, 300_000));
    reader.fetch(owner, keys).await().check(owner.outputs);

    owner.transport.server().forget(owner.outputs.removeAll()).get(10, TimeUnit.SECONDS);

    assertThat(owner.transport.levels().get("registered-bytes.windows")).isZero();
    assertThat(reader.fetch(owner, keys).await().reasons())
        .containsOnly(FallbackReason.UNKNOWN_BLOCK);
  }

  @Test
  final void regionsThatComeAndGoUnderReadsNeverShowAnothersBytes() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    int[] sizes = new int[24];
    Arrays.fill(sizes, 150_000); // every window of the same size: keys and addresses fit again
    long arrived = 0;
    for (int round = 0; round < 25; round++) {
      List<BlockKey> keys = owner.outputs.write(sizes);
      List<Collected> fetches = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        fetches.add(reader.fetch(owner, keys));
      }
      if (round % 2 == 0) { // else in the middle of the READs
        fetches.get(0).await();
      }
      owner.transport.server().forget(owner.outputs.removeAll());
      for (Collected fetch : fetches) {
        arrived += fetch.await().checkWhatCame(owner.outputs).arrived();
      }
    }
    assertThat(arrived).as("blocks by RDMA").isGreaterThan(25 * 24);
  }

  @Test
  final void aForgottenPeerIsDiscoveredAnew() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(10_000);
    reader.fetch(owner, keys).await().check(owner.outputs);

    reader.transport.client().forget("owner");

    Collected again = reader.fetch(owner, keys).await().check(owner.outputs);
    assertThat(again.arrived()).isEqualTo(1);
    assertThat(owner.transport.tickets().outstanding()).as("tickets left over").isZero();
  }

  @Test
  final void openingWhereThereIsNoAdapterLeavesNothing() {
    Outputs none = new Outputs(directory);
    assertThatThrownBy(
            () ->
                RdmaTransport.open(
                    new Transport.Site(
                        provider().lent(),
                        InetAddress.getByName("203.0.113.77"),
                        "lost",
                        NanoClock.system()),
                    new RdmaTransport.Engine(none, this::discover),
                    Patience.transportDefaults(ENOUGH)))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("203.0.113.77");
  }

  @Test
  final void aBlockMayBeClosedByAnyThread() throws Exception {
    Process owner = process("owner");
    Process reader = process("reader");
    List<BlockKey> keys = owner.outputs.write(sizes(new Random(7), 100, 20_000));
    Collected fetch = reader.fetch(owner, keys).await();

    IntStream.range(0, keys.size()).parallel().mapToObj(fetch::block).forEach(Block::close);

    assertThatThrownBy(() -> fetch.block(0).stream().read()).isInstanceOf(IOException.class);
  }
}
