package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is registered, what is copied, what is evicted. */
final class WindowPolicyTest {
  private static final int PAGE = ServerRig.PAGE;
  private static final long STAGING = 64 * PAGE;
  private static final int MEBIBYTE = 1 << 20;
  @TempDir private Path directory;
  private final List<ScriptedOwnerChannel> channels = new ArrayList<>();
  private ServerRig rig;
  private ScriptedOwnerChannel channel;

  /**
   * @param windowPages what the budget leaves for windows
   */
  private void open(long windowPages) throws IOException {
    open(windowPages, 16);
  }

  /**
   * @param slotPages the largest window
   */
  private void open(long windowPages, long slotPages) throws IOException {
    ServerSettings settings =
        new ServerSettings(
            0, slotPages * PAGE, 2 * PAGE, STAGING, Duration.ofSeconds(3), Duration.ofSeconds(5));
    rig = new ServerRig(directory, settings, STAGING + windowPages * PAGE);
    channel = connect();
    OutputFile small = rig.file(100);
    rig.fetch(channel, rig.block(small, 0, 100)); // staging memory has its part from here on
    assertThat(rig.registeredBytes()).isEqualTo(STAGING);
  }

  private ScriptedOwnerChannel connect() {
    ScriptedOwnerChannel opened = rig.connect();
    channels.add(opened);
    return opened;
  }

  @AfterEach
  void close() {
    channels.forEach(rig::breakOff);
    rig.close();
  }

  private long windowPages() {
    return (rig.registeredBytes() - STAGING) / PAGE;
  }

  private boolean isStaged(BlockKey key) {
    Reply.Located located = rig.locate(channel, key);
    rig.release(channel, located.lease());
    return ((Reply.Granted) located.answers().get(0)).staged();
  }

  @Test
  void aSmallBlockIsRegisteredOnceEnoughWasAskedForAroundIt() throws IOException {
    open(1000);
    OutputFile file = rig.file(16 * PAGE);
    assertThat(isStaged(rig.block(file, 0, 1000))).isTrue();
    assertThat(isStaged(rig.block(file, 8 * PAGE, 1000))).isFalse();
    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(1);
  }

  @Test
  void theSameSmallBlockAskedForAgainAndAgainIsRegistered() throws IOException {
    open(1000);
    BlockKey key = rig.block(rig.file(16 * PAGE), 0, 10);
    assertThat(isStaged(key)).isTrue();
    assertThat(isStaged(key)).isFalse();
    assertThat(isStaged(key)).isFalse();
    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(1);
  }

  @Test
  void oneReduceWaveOverManyFilesRegistersNothing() throws IOException {
    open(1000);
    for (int i = 0; i < 50; i++) {
      assertThat(isStaged(rig.block(rig.file(16 * PAGE), 3 * PAGE, 1000))).isTrue();
    }
    assertThat(windowPages()).isZero();
  }

  @Test
  void smallNeighboursAskedForTogetherShareAWindow() throws IOException {
    open(1000);
    OutputFile file = rig.file(16 * PAGE);
    BlockKey[] keys = new BlockKey[40];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = rig.block(file, i * 1000L, 1000);
    }

    Reply.Located located = rig.locate(channel, keys);

    assertThat(located.answers())
        .allSatisfy(a -> assertThat(((Reply.Granted) a).staged()).isFalse());
    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(1);
    for (int i = 0; i < keys.length; i++) {
      assertThat(rig.read(located.answers().get(i)))
          .isEqualTo(ServerRig.bytes(file, i * 1000L, 1000));
    }
  }

  @Test
  void windowsOfASlotDoubleAsItsBlocksAreAskedForOneByOne() throws IOException {
    open(1000);
    OutputFile file = rig.file(16 * PAGE);
    for (int i = 0; i < 8; i++) {
      assertThat(isStaged(rig.block(file, i * 2L * PAGE, 2 * PAGE))).isFalse();
    }
    assertThat(windowPages()).isEqualTo(16);
    assertThat(rig.count(Counter.REGISTRATIONS)).isLessThanOrEqualTo(4);
  }

  @Test
  void windowsDoNotGrowByEvictingOthers() throws IOException {
    open(8);
    OutputFile first = rig.file(16 * PAGE);
    OutputFile second = rig.file(16 * PAGE);
    isStaged(rig.block(first, 0, 4 * PAGE));
    isStaged(rig.block(second, 0, 2 * PAGE));
    isStaged(rig.block(second, 8 * PAGE, 2 * PAGE));
    assertThat(windowPages()).isEqualTo(8);
    assertThat(rig.count(Counter.WINDOWS_EVICTED)).isZero();
  }

  @Test
  void theWindowIdleForLongestIsEvicted() throws IOException {
    open(8);
    BlockKey first = rig.block(rig.file(4 * PAGE), 0, 4 * PAGE);
    BlockKey second = rig.block(rig.file(4 * PAGE), 0, 4 * PAGE);
    BlockKey third = rig.block(rig.file(4 * PAGE), 0, 4 * PAGE);
    isStaged(first);
    isStaged(second);
    isStaged(first);
    isStaged(third); // evicts the second
    assertThat(rig.count(Counter.WINDOWS_EVICTED)).isEqualTo(1);
    isStaged(first);
    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(3);
    isStaged(second);
    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(4);
  }

  @Test
  void aLeasedWindowIsNeverEvicted() throws IOException {
    open(8);
    OutputFile file = rig.file(8 * PAGE);
    Reply.Located leased = rig.locate(channel, rig.block(file, 0, 8 * PAGE));

    BlockKey other = rig.block(rig.file(4 * PAGE), 0, 4 * PAGE);
    assertThat(isStaged(other)).isTrue();

    assertThat(rig.read(leased.answers().get(0))).isEqualTo(ServerRig.bytes(file, 0, 8 * PAGE));
    rig.release(channel, leased.lease());
    assertThat(isStaged(other)).isFalse();
  }

  @Test
  void whatNeitherFitsWindowsNorStagingIsRefused() throws IOException {
    open(8);
    BlockKey key = rig.block(rig.file(200 * PAGE), 0, 200 * PAGE);
    assertThat(rig.locateOne(channel, key))
        .isEqualTo(new Reply.NotByRdma(FallbackReason.OWNER_NO_MEMORY));
    assertThat(windowPages()).isZero();
  }

  @Test
  void sessionsThatAskForTheSameAtOnceShareItsRegistration() throws IOException {
    open(1000);
    OutputFile file = rig.file(16 * PAGE);
    BlockKey key = rig.block(file, 0, 16 * PAGE);
    ScriptedOwnerChannel other = connect();

    Request.Locate locate = new Request.Locate(List.of(key), ServerRig.NO_RELEASES);
    int mine = channel.deliver(locate);
    int theirs = other.deliver(locate);
    rig.run();

    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(1);
    for (Reply reply : List.of(channel.replyTo(mine), other.replyTo(theirs))) {
      assertThat(rig.read(((Reply.Located) reply).answers().get(0)))
          .isEqualTo(ServerRig.bytes(file, 0, 16 * PAGE));
    }
  }

  @Test
  void theRegistrationGoesOnForOthersWhenTheSessionThatBeganItEnds() throws IOException {
    open(1000);
    OutputFile file = rig.file(16 * PAGE);
    BlockKey key = rig.block(file, 0, 16 * PAGE);
    ScriptedOwnerChannel other = rig.connect();
    Request.Locate locate = new Request.Locate(List.of(key), ServerRig.NO_RELEASES);
    other.deliver(locate);
    int mine = channel.deliver(locate);

    rig.breakOff(other);
    rig.run();

    Reply.Located reply = (Reply.Located) channel.replyTo(mine);
    assertThat(rig.read(reply.answers().get(0))).isEqualTo(ServerRig.bytes(file, 0, 16 * PAGE));
  }

  @Test
  void repeatedTrafficThatFitsEndsUpInWindowsWithoutRegistrations() throws IOException {
    open(20 * (4 + 2 + 1));
    List<BlockKey> traffic = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      OutputFile file = rig.file(64 * PAGE);
      traffic.add(rig.block(file, 3 * PAGE, 4 * PAGE));
      traffic.add(rig.block(file, 20 * PAGE + 10, 5000));
      traffic.add(rig.block(file, 40 * PAGE, 100));
    }
    for (int pass = 0; pass < 100; pass++) {
      traffic.forEach(this::isStaged);
      rig.advance(Duration.ofSeconds(1));
    }
    long registrations = rig.count(Counter.REGISTRATIONS);
    long evictions = rig.count(Counter.WINDOWS_EVICTED);

    assertThat(traffic.stream().filter(this::isStaged).count()).isZero();

    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(registrations);
    assertThat(rig.count(Counter.WINDOWS_EVICTED)).isEqualTo(evictions);
  }

  @RepeatedTest(5)
  void anyRepeatedTrafficThatFitsSettles() throws IOException {
    long seed = Long.getLong("rdmashuffle.test.seed", System.nanoTime());
    System.out.println("-Drdmashuffle.test.seed=" + seed);
    Random random = new Random(seed);
    open(400);
    List<BlockKey> traffic = new ArrayList<>();
    long pages = 0;
    OutputFile file = rig.file(64 * PAGE);
    while (true) {
      file = random.nextInt(3) == 0 ? rig.file(64 * PAGE) : file;
      int bytes = 1 + random.nextInt(random.nextBoolean() ? 1000 : 8 * PAGE);
      int from = random.nextInt(64 * PAGE - bytes);
      pages += (from + bytes - 1) / PAGE - from / PAGE + 1;
      if (pages > 400) {
        break;
      }
      traffic.add(rig.block(file, from, bytes));
    }
    for (int pass = 0; pass < 100; pass++) {
      Collections.shuffle(traffic, random);
      traffic.forEach(this::isStaged);
      rig.advance(Duration.ofSeconds(1));
    }
    long registrations = rig.count(Counter.REGISTRATIONS);

    assertThat(traffic.stream().filter(this::isStaged).count()).isZero();
    assertThat(rig.count(Counter.REGISTRATIONS)).isEqualTo(registrations);
  }

  /** Each is asked for once: a registration that evicts another such block is never repaid. */
  @Test
  void largeBlocksOfFarMoreFilesThanFitAreCopiedOnceEvictionsHaveNotPaid() throws IOException {
    open(50);
    int blocks = 200;
    for (int i = 0; i < blocks; i++) {
      isStaged(rig.block(rig.file(4 * PAGE), 0, 4 * PAGE));
    }
    assertThat(rig.count(Counter.REGISTRATIONS)).isBetween(1L, blocks / 4 - 1L);
    assertThat(rig.count(Counter.OWNER_BLOCKS_STAGED)).isGreaterThan(blocks / 2);
  }

  /** The window would hold one of them, whatever was asked for beside it. */
  @Test
  void manyBlocksOfOneFileAskedForOnceEvictNothing() throws IOException {
    open(50, 1024);
    evictUnpaidWindows();
    OutputFile file = rig.file(200 * 4 * PAGE);
    for (int i = 0; i < 200; i++) {
      assertThat(isStaged(rig.block(file, i * 4L * PAGE, 4 * PAGE))).isTrue();
    }
  }

  @Test
  void aLargeBlockThatIsCopiedIsRegisteredWhenItIsAskedForAgainAndAgain() throws IOException {
    open(50);
    evictUnpaidWindows();
    BlockKey key = rig.block(rig.file(4 * PAGE), 0, 4 * PAGE);
    assertThat(isStaged(key)).isTrue();
    for (int i = 0; i < 16; i++) {
      isStaged(key);
    }
    assertThat(isStaged(key)).isFalse();
  }

  @Test
  void veryLargeBlocksAreRegisteredWhateverEvictionsPay() throws IOException {
    open(50);
    evictUnpaidWindows();
    assertThat(isStaged(rig.block(rig.file(40 * PAGE), 0, 40 * PAGE))).isFalse();
  }

  @Test
  void largeBlocksAreRegisteredWhileOthersWaitForMemoryToCopyInto() throws IOException {
    open(100);
    evictUnpaidWindows();
    List<Long> leases = new ArrayList<>();
    int waiting = -1;
    while (waiting < 0) {
      assertThat(leases).hasSizeLessThan(10);
      BlockKey half = rig.block(rig.file(32 * PAGE), 0, 31 * PAGE);
      int id = channel.deliver(new Request.Locate(List.of(half), ServerRig.NO_RELEASES));
      rig.run();
      Reply.Located located = (Reply.Located) channel.replyTo(id);
      if (located == null) {
        waiting = id;
      } else {
        leases.add(located.lease());
      }
    }

    assertThat(isStaged(rig.block(rig.file(4 * PAGE), 0, 4 * PAGE))).isFalse();

    leases.forEach(lease -> rig.release(channel, lease));
    assertThat(channel.replyTo(waiting)).isNotNull();
  }

  /** Windows of up to 16 MiB, and staging memory of 32 MiB in slabs of 8, in a budget of 20 MiB. */
  private void openWithSlabs() throws IOException {
    ServerSettings settings =
        new ServerSettings(
            0,
            16 * MEBIBYTE,
            MEBIBYTE,
            32 * MEBIBYTE,
            Duration.ofSeconds(3),
            Duration.ofSeconds(5));
    rig = new ServerRig(directory, settings, 20 * MEBIBYTE);
    channel = connect();
  }

  /** A block just too small to be registered. */
  private BlockKey newMebibyte() throws IOException {
    return rig.block(rig.file(MEBIBYTE), 1, MEBIBYTE - 1);
  }

  @Test
  void aRequestGetsWhatThereIsWhereStagingMemoryCannotGrow() throws IOException {
    openWithSlabs();
    BlockKey window = rig.block(rig.file(8 * MEBIBYTE), 0, 8 * MEBIBYTE);
    Reply.Located leased = rig.locate(channel, window); // leaves room for one slab
    BlockKey[] keys = new BlockKey[10];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = newMebibyte();
    }

    for (int round = 0; round < 5; round++) {
      Reply.Located located = rig.locate(channel, keys);
      assertThat(located.answers())
          .hasSizeGreaterThanOrEqualTo(4)
          .allMatch(a -> a instanceof Reply.Granted);
      rig.release(channel, located.lease());
      rig.advance(Duration.ofMillis(400));
    }
    rig.release(channel, leased.lease());
  }

  @Test
  void copiesGetTheRoomOfWindowsThatDidNotPay() throws IOException {
    openWithSlabs();
    for (int i = 0; i < 3; i++) { // the third evicts the first
      isStaged(rig.block(rig.file(8 * MEBIBYTE), 0, 8 * MEBIBYTE));
    }
    BlockKey first = newMebibyte();
    BlockKey second = newMebibyte();

    channel.deliver(new Request.Locate(List.of(first), ServerRig.NO_RELEASES));
    rig.run();

    assertThat(rig.count(Counter.WINDOWS_EVICTED)).isEqualTo(2);
    assertThat(rig.registeredBytes()).as("a window and a slab").isEqualTo(16 * MEBIBYTE);
    assertThat(isStaged(second)).isTrue();
  }

  /** Until there is no free room, and registering is as dear as it gets. */
  private void evictUnpaidWindows() throws IOException {
    for (int i = 0; i < 8; i++) {
      isStaged(rig.block(rig.file(40 * PAGE), 0, 40 * PAGE));
    }
    int tried = 0;
    while (!isStaged(rig.block(rig.file(4 * PAGE), 0, 4 * PAGE))) {
      assertThat(++tried).isLessThan(100);
    }
  }

  @Test
  void smallBlocksOfFarMoreFilesThanFitAreCopiedInsteadOfThrashing() throws IOException {
    open(50);
    List<BlockKey> traffic = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      traffic.add(rig.block(rig.file(4 * PAGE), PAGE, 1000));
    }
    int passes = 20;
    for (int pass = 0; pass < passes; pass++) {
      traffic.forEach(this::isStaged);
    }
    long asked = (long) passes * traffic.size();
    assertThat(rig.count(Counter.REGISTRATIONS)).isLessThan(asked / 10);
  }
}
