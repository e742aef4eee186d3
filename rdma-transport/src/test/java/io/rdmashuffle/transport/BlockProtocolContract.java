package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.memory.MemoryBudget.Use;
import io.rdmashuffle.transport.protocol.Fetched;
import io.rdmashuffle.transport.protocol.Outputs;
import io.rdmashuffle.transport.protocol.Outputs.Output;
import io.rdmashuffle.transport.protocol.ProtocolRig;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an owner and a reader promise each other, with their real threads, connections and memory on
 * any adapter: the right bytes or a fallback, in time, and nothing left behind. One subclass per
 * kind of device; none may override a test.
 */
public abstract class BlockProtocolContract {
  private static final int PAGE = 4096;
  private static final int WINDOW = ProtocolRig.WINDOW_BYTES;
  @TempDir private Path directory;
  private ProtocolRig rig;

  /** The provider under test, lent, or aborts with the reason this host cannot run it. */
  protected abstract VerbsProvider provider() throws Exception;

  /** The address that leads to the device under test. */
  protected abstract InetAddress localAddress() throws Exception;

  /** Fails if an object of the provider is left open. */
  protected abstract void assertNothingOpen();

  private ProtocolRig open() throws Exception {
    rig = ProtocolRig.open(provider(), localAddress(), directory);
    return rig;
  }

  @AfterEach
  final void nothingIsLeft() {
    if (rig != null) {
      rig.close();
      assertNothingOpen();
    }
  }

  private Outputs outputs() {
    return rig.owner().outputs();
  }

  private static List<BlockKey> keysOf(Output output) {
    return IntStream.range(0, output.offsets().length - 1).mapToObj(output::key).toList();
  }

  private static void assertAllArrived(Fetched fetched, Output... outputs) throws IOException {
    assertThat(fetched.fallbacks()).as("blocks that fell back").isEmpty();
    assertRightOrFallenBack(fetched, contents(outputs));
  }

  /** What the blocks must be; read before files go away. */
  private static Map<Long, Output> contents(Output... outputs) {
    Map<Long, Output> byNumber = new HashMap<>();
    Arrays.stream(outputs).forEach(o -> byNumber.put(o.number(), o));
    return byNumber;
  }

  private static void assertRightOrFallenBack(Fetched fetched, Map<Long, Output> outputs)
      throws IOException {
    for (int i = 0; i < fetched.keys().size(); i++) {
      BlockKey key = fetched.keys().get(i);
      if (fetched.bytes(i) != null) {
        assertThat(Arrays.equals(fetched.bytes(i), outputs.get(key.output()).bytes(key)))
            .as("bytes of %s, %s", key, fetched.source(i))
            .isTrue();
      } else {
        assertThat(fetched.fallback(i)).isNotNull();
      }
    }
  }

  // ---- bytes

  @Test
  final void blocksOfEveryLengthAroundEveryLimitArriveAsTheyAre() throws Exception {
    open();
    List<Integer> lengths = new ArrayList<>();
    int[] limits = {
      2, ProtocolRig.INLINE_BYTES, PAGE, ProtocolRig.STAGE_BELOW_BYTES, WINDOW, 3 * WINDOW
    };
    for (int limit : limits) {
      lengths.addAll(List.of(limit - 1, limit, limit + 1));
    }
    Collections.shuffle(lengths, new Random(1));
    Output forwards = outputs().add(lengths.stream().mapToInt(i -> i).toArray());
    Collections.reverse(lengths);
    Output backwards = outputs().add(lengths.stream().mapToInt(i -> i).toArray());
    for (Output output : List.of(forwards, backwards)) {
      assertAllArrived(rig.fetch(keysOf(output)), output);
      for (BlockKey key : keysOf(output)) {
        assertAllArrived(rig.fetch(List.of(key)), output);
      }
    }
  }

  @Test
  final void blocksAtEveryEdgeOfPagesAndWindowsArriveAsTheyAre() throws Exception {
    open();
    List<Integer> edges = new ArrayList<>();
    for (int edge : new int[] {PAGE, 5 * PAGE, WINDOW, 2 * WINDOW, 4 * WINDOW}) {
      edges.addAll(List.of(edge - 1, edge, edge + 1));
    }
    List<BlockKey> keys = new ArrayList<>();
    List<Output> cut = new ArrayList<>();
    for (int from : edges) {
      for (int to : edges) {
        if (from < to) {
          Output output = outputs().add(from, to - from, 100);
          cut.add(output);
          keys.add(output.key(1));
        }
      }
    }
    assertAllArrived(rig.fetch(keys), cut.toArray(Output[]::new));
  }

  @Test
  final void rangesOfPartitionsArriveAsOneBlock() throws Exception {
    open();
    Output output = outputs().add(10, 0, 5000, 20_000, 0, 0, 100_000, 1, 7);
    List<BlockKey> keys = new ArrayList<>();
    for (int first = 0; first < 9; first++) {
      for (int end = first + 1; end <= 9; end++) {
        keys.add(output.key(first, end));
      }
    }
    assertAllArrived(rig.fetch(keys), output);
  }

  @Test
  final void emptyBlocksArriveEmpty() throws Exception {
    open();
    Output output = outputs().add(0, 0, 10, 0);
    Fetched fetched = rig.fetch(List.of(output.key(0), output.key(1), output.key(3)));
    assertAllArrived(fetched, output);
    assertThat(fetched.bytes(0)).isEmpty();
  }

  @Test
  final void blocksBeyondTwoGibibytesOfAFileArrive() throws Exception {
    open();
    Output output = outputs().addSparse(5L << 30, 300_000);
    assertAllArrived(rig.fetch(List.of(output.key(0), output.key(2))), output);
  }

  @Test
  final void thousandsOfBlocksInOneFetchArrive() throws Exception {
    open();
    Random random = new Random(3);
    List<Output> all = new ArrayList<>();
    List<BlockKey> keys = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      int[] lengths = random.ints(60, 0, random.nextInt(4) == 0 ? 6000 : 800).toArray();
      Output output = outputs().add(lengths);
      all.add(output);
      keys.addAll(keysOf(output));
    }
    Collections.shuffle(keys, random);
    assertAllArrived(rig.fetch(keys), all.toArray(Output[]::new));
  }

  @Test
  final void fetchesAtTheSameTimeDoNotDisturbEachOther() throws Exception {
    open();
    Random random = new Random(4);
    Output[] all = new Output[8];
    for (int i = 0; i < all.length; i++) {
      all[i] = outputs().add(random.ints(40, 1, 40_000).toArray());
    }
    List<Fetched> running = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      List<BlockKey> keys = new ArrayList<>(keysOf(all[i % all.length]));
      Collections.shuffle(keys, random);
      running.add(rig.reader().fetch(keys));
    }
    for (Fetched fetched : running) {
      assertAllArrived(fetched.await(), all);
    }
    assertThat(rig.discoveries()).isEqualTo(1);
  }

  // ---- ways

  @Test
  final void repeatedTrafficThatFitsIsReadFromWindowsAlone() throws Exception {
    open();
    Output output = outputs().add(new Random(5).ints(100, 600, 30_000).toArray());
    for (int pass = 0; pass < 8; pass++) {
      assertAllArrived(rig.fetch(keysOf(output)), output);
    }
    long registrations = rig.owner().count(Counter.REGISTRATIONS);
    Fetched fetched = rig.fetch(keysOf(output));
    assertThat(fetched.count(Block.Source.READ)).isEqualTo(fetched.keys().size());
    assertThat(rig.owner().count(Counter.REGISTRATIONS)).isEqualTo(registrations);
  }

  @Test
  final void withoutRoomForWindowsBlocksComeAsCopies() throws Exception {
    rig = ProtocolRig.openWithWindowsOf(0, provider(), localAddress(), directory);
    Output output = outputs().add(new Random(6).ints(50, 600, 100_000).toArray());
    for (BlockKey key : keysOf(output)) {
      Fetched fetched = rig.fetch(List.of(key));
      assertAllArrived(fetched, output);
      assertThat(fetched.source(0)).isEqualTo(Block.Source.STAGED);
    }
    assertThat(rig.owner().registeredBytes(Use.WINDOWS)).isZero();
  }

  @Test
  final void farMoreFilesThanMayBeRegisteredAreServed() throws Exception {
    rig = ProtocolRig.openWithWindowsOf(4 * WINDOW, provider(), localAddress(), directory);
    Random random = new Random(7);
    Output[] all = new Output[30];
    List<BlockKey> keys = new ArrayList<>();
    for (int i = 0; i < all.length; i++) {
      all[i] = outputs().add(random.ints(10, 1, 60_000).toArray());
      keys.addAll(keysOf(all[i]));
    }
    long arrived = 0;
    // How many windows are idle when others are wanted is a matter of pace.
    boolean evicted = false;
    for (int pass = 0; pass < 4 || (!evicted && pass < 20); pass++) {
      Collections.shuffle(keys, random);
      Fetched fetched = rig.fetch(keys);
      assertRightOrFallenBack(fetched, contents(all));
      arrived += fetched.arrived();
      evicted = rig.owner().count(Counter.WINDOWS_EVICTED) > 0;
    }
    assertThat(arrived).isGreaterThan(keys.size());
    assertThat(evicted).as("a window was evicted").isTrue();
    assertThat(rig.owner().registeredBytes(Use.WINDOWS)).isLessThanOrEqualTo(4 * WINDOW + PAGE);
  }

  @Test
  final void unknownBlocksFallBackAndTheOthersArrive() throws Exception {
    open();
    Output output = outputs().add(100, 20_000);
    Fetched fetched =
        rig.fetch(List.of(output.key(0), new BlockKey(0, 999_999, 0, 1), output.key(1)));
    assertThat(fetched.fallback(1)).isEqualTo(FallbackReason.UNKNOWN_BLOCK);
    assertThat(fetched.arrived()).isEqualTo(2);
    assertRightOrFallenBack(fetched, contents(output));
  }

  // ---- files that go away

  @Test
  final void aDeletedFileFallsBackAndTheOthersArrive() throws Exception {
    open();
    Output gone = outputs().add(100, 5000, 200_000);
    Output there = outputs().add(100, 5000, 200_000);
    Files.delete(gone.file().path());
    List<BlockKey> keys = new ArrayList<>(keysOf(gone));
    keys.addAll(keysOf(there));
    Fetched fetched = rig.fetch(keys);
    for (int i = 0; i < 3; i++) {
      assertThat(fetched.fallback(i)).isEqualTo(FallbackReason.FILE_CHANGED);
      assertThat(fetched.bytes(i + 3)).isEqualTo(there.bytes(keys.get(i + 3)));
    }
  }

  @Test
  final void aFileDeletedWhileItIsServedIsReadRightlyOrFallsBack() throws Exception {
    open();
    Output output = outputs().add(100, 5000, 200_000);
    byte[][] expected = {
      output.bytes(output.key(0)), output.bytes(output.key(1)), output.bytes(output.key(2))
    };
    assertAllArrived(rig.fetch(keysOf(output)), output);
    Files.delete(output.file().path());
    for (int pass = 0; pass < 3; pass++) {
      Fetched fetched = rig.fetch(keysOf(output));
      for (int i = 0; i < 3; i++) {
        if (fetched.bytes(i) != null) {
          assertThat(fetched.bytes(i)).isEqualTo(expected[i]);
        }
      }
      assertThat(fetched.bytes(2)).as("its windows are registered").isNotNull();
    }
  }

  @Test
  final void aTruncatedFileFallsBack() throws Exception {
    open();
    Output output = outputs().add(100, 5000, 200_000);
    try (FileChannel file = FileChannel.open(output.file().path(), StandardOpenOption.WRITE)) {
      file.truncate(150_000);
    }
    Fetched fetched = rig.fetch(keysOf(output));
    for (int i = 0; i < 3; i++) {
      assertThat(fetched.fallback(i)).isEqualTo(FallbackReason.FILE_CHANGED);
    }
  }

  @Test
  final void filesForgottenDuringReadsGiveRightBytesOrFallBack() throws Exception {
    open();
    Random random = new Random(8);
    long arrived = 0;
    for (int round = 0; round < 10; round++) {
      Output output = outputs().add(random.ints(40, 1, 50_000).toArray());
      List<Fetched> running = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        running.add(rig.reader().fetch(keysOf(output)));
      }
      if (random.nextBoolean()) {
        running.get(0).await();
      }
      CompletableFuture<Void> gone = rig.owner().server().forget(List.of(output.file()));
      for (Fetched fetched : running) {
        assertRightOrFallenBack(fetched.await(), contents(output));
        arrived += fetched.arrived();
      }
      gone.get(20, TimeUnit.SECONDS);
      assertThat(rig.owner().registeredBytes(Use.WINDOWS)).isZero();
      assertThat(rig.fetch(keysOf(output)).arrived()).isZero();
      outputs().remove(output);
      Files.delete(output.file().path());
    }
    assertThat(arrived).as("blocks by RDMA").isPositive();
  }

  // ---- ends

  @Test
  final void leasesEndWhileBothSidesLive() throws Exception {
    open();
    Output output = outputs().add(100, 5000, 200_000);
    assertAllArrived(rig.fetch(keysOf(output)), output);
    ProtocolRig.await("leases end soon", () -> rig.owner().count(Counter.LEASES_LIVE) == 0);
  }

  @Test
  final void anOwnerThatStopsDuringReadsCostsNothingButFallbacks() throws Exception {
    open();
    Random random = new Random(9);
    Output output = outputs().add(random.ints(200, 1, 50_000).toArray());
    assertAllArrived(rig.fetch(List.of(output.key(0))), output);
    List<Fetched> running = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      running.add(rig.reader().fetch(keysOf(output)));
    }
    rig.owner().server().close();
    assertThat(rig.owner().registeredBytes(Use.WINDOWS)).isZero();
    assertThat(rig.owner().registeredBytes(Use.STAGING)).isZero();
    for (Fetched fetched : running) {
      assertRightOrFallenBack(fetched.await(), contents(output));
    }
  }

  @Test
  final void aReaderThatStopsDuringReadsLeavesNothingAtTheOwner() throws Exception {
    open();
    Output output = outputs().add(new Random(10).ints(200, 1, 50_000).toArray());
    assertAllArrived(rig.fetch(List.of(output.key(0))), output);
    List<Fetched> running = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      running.add(rig.reader().fetch(keysOf(output)));
    }
    rig.reader().close();
    for (Fetched fetched : running) {
      assertRightOrFallenBack(fetched.await(), contents(output));
    }
    ProtocolRig.await("leases end", () -> rig.owner().count(Counter.LEASES_LIVE) == 0);
  }

  // ---- tickets

  @Test
  final void aUsedOrExpiredTicketDoesNotConnectAndAFreshOneDoes() throws Exception {
    open();
    Output output = outputs().add(5000);
    rig.discoverOnlyUsedTickets();
    assertThat(rig.fetch(keysOf(output)).fallback(0)).isEqualTo(FallbackReason.CONNECT_FAILED);
    rig.discoverOnlyExpiredTickets();
    assertEventually(output, FallbackReason.CONNECT_FAILED);
    rig.discoverFreshTickets();
    ProtocolRig.await("a fresh ticket connects", () -> fetchedOne(output).arrived() == 1);
    assertThat(rig.owner().count(Counter.CONNECTIONS_REFUSED)).isPositive();
  }

  /** The peer rests after a failure, and falls back without asking meanwhile. */
  private void assertEventually(Output output, FallbackReason reason) {
    ProtocolRig.await(reason.label(), () -> fetchedOne(output).fallback(0) == reason);
  }

  private Fetched fetchedOne(Output output) {
    try {
      return rig.fetch(keysOf(output));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Test
  final void aReconnectDiscoversAgain() throws Exception {
    open();
    Output output = outputs().add(20_000);
    assertAllArrived(rig.fetch(keysOf(output)), output);
    assertThat(rig.discoveries()).isEqualTo(1);
    rig.reader().forgetOwner();
    ProtocolRig.await("the reader reconnects", () -> fetchedOne(output).arrived() == 1);
    assertThat(rig.discoveries()).isEqualTo(2);
  }
}
