package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.testing.fake.Errno;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random requests, releases, failures and departures under a budget far too small, in random order
 * with the slow pool. Whatever is granted must be the file's bytes for as long as its lease lasts.
 * {@code -Drdmashuffle.test.seed=} repeats a run.
 */
final class RandomTrafficTest {
  private static final int PAGE = ServerRig.PAGE;
  private static final int STEPS = 4000;
  private static final String SEED = "rdmashuffle.test.seed";
  @TempDir private Path directory;
  private Random random;
  private ServerRig rig;
  private final Map<BlockKey, byte[]> expected = new HashMap<>();
  private final List<OutputFile> files = new ArrayList<>();
  private final List<BlockKey> keys = new ArrayList<>();
  private final List<ScriptedOwnerChannel> channels = new ArrayList<>();
  private final List<Asked> asked = new ArrayList<>();
  private final List<CompletableFuture<Void>> forgotten = new ArrayList<>();
  private final List<Held> held = new ArrayList<>();

  private record Asked(ScriptedOwnerChannel channel, int id, List<BlockKey> keys) {}

  private record Held(ScriptedOwnerChannel channel, List<BlockKey> keys, Reply.Located reply) {}

  @RepeatedTest(4)
  void grantsAreTheBytesOfTheFileForAsLongAsTheyAreLeased() throws IOException {
    long seed = Long.getLong(SEED, System.nanoTime());
    System.out.println("-D" + SEED + "=" + seed);
    random = new Random(seed);
    ServerSettings settings =
        new ServerSettings(
            100, 16 * PAGE, 2 * PAGE, 512 << 10, Duration.ofSeconds(3), Duration.ofSeconds(5));
    rig = new ServerRig(directory, settings, (512 << 10) + (20 + random.nextInt(100)) * PAGE);
    rig.reader(); // before registrations begin to fail
    for (int i = 0; i < 20; i++) {
      addFile();
    }
    for (int i = 0; i < 3; i++) {
      channels.add(rig.connect());
    }

    for (int i = 0; i < STEPS; i++) {
      step(random.nextInt(100));
      takeReplies();
    }

    assertThat(rig.count(Counter.WINDOWS_EVICTED)).isPositive();
    assertThat(rig.count(Counter.OWNER_BLOCKS_WINDOW)).isPositive();
    assertThat(rig.count(Counter.OWNER_BLOCKS_STAGED)).isPositive();
    assertThat(rig.count(Counter.OWNER_BLOCKS_INLINE)).isPositive();
    channels.forEach(rig::breakOff);
    rig.run();
    assertThat(forgotten).isNotEmpty().allSatisfy(f -> assertThat(f).isCompleted());
    rig.close();
  }

  private void addFile() throws IOException {
    OutputFile file = rig.file(1 + random.nextInt(60 * PAGE));
    files.add(file);
    byte[] content = Files.readAllBytes(file.path());
    for (int i = 0; i < 10; i++) {
      int bytes =
          random.nextInt(Math.min(content.length, random.nextBoolean() ? 3000 : 1 << 18) + 1);
      int offset = random.nextInt(content.length - bytes + 1);
      BlockKey key = rig.newKey();
      BlockLocation where = new BlockLocation(file, offset, bytes);
      if (random.nextBoolean()) {
        rig.catalog().put(key, where);
      } else {
        rig.catalog().putOnDisk(key, where);
      }
      keys.add(key);
      expected.put(key, Arrays.copyOfRange(content, offset, offset + bytes));
    }
  }

  private void step(int dice) throws IOException {
    if (dice < 25) {
      ask();
    } else if (dice < 45) {
      rig.pool.runOne();
    } else if (dice < 65) {
      rig.loop.runAll();
    } else if (dice < 90) {
      verifyAndPerhapsRelease();
    } else if (dice < 92) {
      rig.fabric.faults().refuseRegistration(1 + random.nextInt(3), Errno.ENOMEM);
    } else if (dice < 96) {
      rig.loop.advance(Duration.ofMillis(random.nextInt(400)));
    } else if (dice < 98) {
      forgetOne();
    } else {
      reconnect();
    }
  }

  private void ask() {
    ScriptedOwnerChannel channel = channels.get(random.nextInt(channels.size()));
    List<BlockKey> some = new ArrayList<>();
    for (int i = random.nextInt(12); i >= 0; i--) {
      some.add(keys.get(random.nextInt(keys.size())));
    }
    if (channel.closeCause() == null) {
      int id = channel.deliver(new Request.Locate(some, ServerRig.NO_RELEASES));
      asked.add(new Asked(channel, id, some));
    }
  }

  private void takeReplies() {
    for (Asked one : List.copyOf(asked)) {
      Reply reply = one.channel.replyTo(one.id);
      if (reply != null) {
        asked.remove(one);
        held.add(new Held(one.channel, one.keys, (Reply.Located) reply));
      }
    }
  }

  private void verifyAndPerhapsRelease() throws IOException {
    if (held.isEmpty()) {
      return;
    }
    Held one = held.get(random.nextInt(held.size()));
    assertThat(one.reply.answers()).hasSizeBetween(1, one.keys.size());
    for (int i = 0; i < one.reply.answers().size(); i++) {
      Reply.Answer answer = one.reply.answers().get(i);
      if (!(answer instanceof Reply.NotByRdma)) {
        assertThat(rig.read(answer)).isEqualTo(expected.get(one.keys.get(i)));
      }
    }
    if (random.nextInt(3) > 0) {
      held.remove(one);
      if (one.channel.closeCause() == null) {
        one.channel.deliver(new Request.Release(new long[] {one.reply.lease()}));
      }
    }
  }

  private void forgetOne() throws IOException {
    OutputFile file = files.remove(random.nextInt(files.size()));
    if (random.nextBoolean()) {
      Files.delete(file.path());
    }
    if (random.nextBoolean()) {
      rig.catalog().remove(file);
    }
    forgotten.add(rig.server.forget(List.of(file)));
    addFile();
  }

  private void reconnect() {
    ScriptedOwnerChannel gone = channels.remove(random.nextInt(channels.size()));
    rig.breakOff(gone);
    asked.removeIf(a -> a.channel == gone);
    held.removeIf(h -> h.channel == gone);
    channels.add(rig.connect());
  }
}
