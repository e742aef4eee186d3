package io.rdmashuffle.transport.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.testing.ScriptedOwnerChannel;
import io.rdmashuffle.transport.testing.LoggedLines;
import io.rdmashuffle.transport.verbs.ProtectionDomain;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Reply;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a reader can make an owner hold is bounded, and no honest reader meets the bound. */
final class LeaseLimitTest {
  private static final int PAGE = ServerRig.PAGE;
  private static final int MOST_LEASES = WireLimits.mostLeases(ScriptedOwnerChannel.REQUESTS);
  private static final int REQUESTS_OF_EACH = 32;
  @TempDir private Path directory;
  private ServerRig rig;
  private final List<ScriptedOwnerChannel> channels = new ArrayList<>();
  private BlockKey[] keys;

  @BeforeEach
  void open() throws IOException {
    rig = new ServerRig(directory, ServerRig.settings(), ServerRig.UNLIMITED);
    OutputFile file = rig.file(WireLimits.KEYS_PER_LOCATE * 4 * PAGE);
    keys = new BlockKey[WireLimits.KEYS_PER_LOCATE];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = rig.block(file, i * 4L * PAGE, 4 * PAGE);
    }
    rig.reader();
  }

  @AfterEach
  void close() {
    channels.forEach(rig::breakOff);
    rig.close();
  }

  private ScriptedOwnerChannel connect() {
    ScriptedOwnerChannel channel = rig.connect();
    channels.add(channel);
    return channel;
  }

  private void ask(ScriptedOwnerChannel channel) {
    channel.deliver(new Request.Locate(List.of(keys), ServerRig.NO_RELEASES));
  }

  /** LOCATEs of the same keys without a release until the connection is closed, or so many. */
  private int hog(ScriptedOwnerChannel channel, int most) {
    int asked = 0;
    while (asked < most && channel.closeCause() == null) {
      ask(channel);
      rig.run();
      channel.forgetReplies();
      asked++;
    }
    return asked;
  }

  /** As many keys are looked up as a tenant may have at a time, and none is answered yet. */
  private void crowd(Request.Locate locate) {
    int locates = ServerSettings.MOST_KEYS / 2 / locate.keys().size();
    for (int i = 0; i < locates / REQUESTS_OF_EACH; i++) {
      ScriptedOwnerChannel channel = connect();
      for (int j = 0; j < REQUESTS_OF_EACH; j++) {
        channel.deliver(locate);
      }
    }
  }

  private int answers(ScriptedOwnerChannel channel, int id) {
    return ((Reply.Located) channel.replyTo(id)).answers().size();
  }

  /** How many LOCATEs an honest reader needs for all blocks, each by READ. */
  private int rounds(ScriptedOwnerChannel reader) throws Exception {
    int rounds = 0;
    long[] returned = ServerRig.NO_RELEASES;
    for (int from = 0; from < keys.length; rounds++) {
      List<BlockKey> rest = List.of(keys).subList(from, keys.length);
      int id = reader.deliver(new Request.Locate(rest, returned));
      rig.run();
      Reply.Located located = (Reply.Located) reader.replyTo(id);
      for (Reply.Answer answer : located.answers()) {
        assertThat(answer).isInstanceOf(Reply.Granted.class);
        assertThat(rig.read(answer)).hasSize(4 * PAGE);
      }
      from += located.answers().size();
      returned = new long[] {located.lease()};
    }
    rig.release(reader, returned);
    return rounds;
  }

  @Test
  void aReaderThatReturnsNoLeaseIsCutOffWithAReasonAndOneLine() {
    ScriptedOwnerChannel hostile = connect();
    try (LoggedLines logged = new LoggedLines()) {
      assertThat(hog(hostile, 10_000)).isEqualTo(MOST_LEASES + 1);
      for (int i = 0; i < 20; i++) { // it comes again
        hog(connect(), 10_000);
      }

      assertThat(logged.with("Closing the connection of scripted"))
          .singleElement()
          .asString()
          .contains("holds " + MOST_LEASES + " leases");
    }
    assertThat(hostile.refusal()).contains("holds " + MOST_LEASES + " leases");
    assertThat(hostile.closeCause().kind()).isEqualTo(TransportException.Kind.PEER_LOST);
    assertThat(rig.count(Counter.LEASES_REVOKED)).isEqualTo(21L * MOST_LEASES);
  }

  @Test
  void requestsWithoutAnAnswerCountAsLeases() {
    ScriptedOwnerChannel hostile = connect();
    hog(hostile, MOST_LEASES - 2);
    rig.pool.shut(); // whatever needs the slow pool waits
    rig.fabric.faults().refuseFiles((path, mode) -> true);
    ask(hostile);
    ask(hostile);
    assertThat(hostile.closeCause()).isNull();
    ask(hostile);
    assertThat(hostile.closeCause()).isNotNull();
    rig.pool.reopen();
  }

  @Test
  void anHonestReaderHasAllItsBlocksInAsManyRoundsBesideHostileOnes() throws Exception {
    int alone = rounds(connect());
    int beside = 0;
    for (int i = 0; i < 8; i++) {
      ScriptedOwnerChannel hostile = connect();
      hog(hostile, MOST_LEASES);
      ask(hostile);
      ScriptedOwnerChannel honest = connect();
      beside = Math.max(beside, rounds(honest));
      assertThat(honest.closeCause()).isNull();
    }
    assertThat(beside).isEqualTo(alone);
  }

  /** Of a LOCATE beyond the bound one key is answered; the reader asks again for the others. */
  @Test
  void theKeysBeingLookedUpForATenantAreBoundedAndLeaveRoomForOthers() throws Exception {
    Arrays.setAll(keys, i -> rig.newKey()); // these take another thread to look up
    Request.Locate locate = new Request.Locate(List.of(keys), ServerRig.NO_RELEASES);
    ProtectionDomain tenant = rig.newDomain();
    ScriptedOwnerChannel other = rig.connect(tenant);
    ScriptedOwnerChannel late = connect();

    crowd(locate);
    int beyond = late.deliver(locate);
    int others = other.deliver(locate);
    rig.run();
    assertThat(answers(late, beyond)).isEqualTo(1);
    assertThat(answers(other, others)).isEqualTo(keys.length);

    crowd(locate);
    channels.remove(late);
    for (ScriptedOwnerChannel gone : channels) { // while their keys are looked up
      gone.fail(new TransportException(TransportException.Kind.PEER_LOST, "gone"));
      gone.finishClose();
    }
    channels.clear();
    channels.add(late);
    int next = late.deliver(locate);
    rig.run();
    assertThat(answers(late, next)).as("whoever is gone has left room").isEqualTo(keys.length);
    rig.breakOff(other);
    tenant.close();
  }

  @Test
  void whatEightHostileSessionsHoldIsSmall() {
    hog(connect(), 1);
    long before = usedBytes();
    for (int i = 0; i < 8; i++) {
      hog(connect(), MOST_LEASES);
    }
    assertThat(rig.count(Counter.LEASES_LIVE)).isEqualTo(8L * MOST_LEASES + 1);
    assertThat(usedBytes() - before).as("heap of eight sessions").isLessThan(4 << 20);
  }

  private static long usedBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
