package io.rdmashuffle.transport.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel.PendingRead;
import io.rdmashuffle.transport.channel.testing.ScriptedReaderChannel.PendingRequest;
import io.rdmashuffle.transport.client.ClientRig.Setup;
import io.rdmashuffle.transport.wire.BlockKey;
import io.rdmashuffle.transport.wire.Request;
import io.rdmashuffle.transport.wire.WireLimits;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How requests and READs of one connection overlap, and what bounds them. */
final class PipelineTest {
  private static void end(ClientRig rig, ScriptedReaderChannel channel) {
    rig.client.close();
    rig.settle();
    channel.finishClose();
    rig.close();
  }

  private static List<Request> sent(ScriptedReaderChannel channel) {
    return channel.requests().stream().map(PendingRequest::request).toList();
  }

  private static int keys(Request request) {
    return ((Request.Locate) request).keys().size();
  }

  @Test
  void locatesOfOneFetchAreSentAheadUpToTheRequestCreditButForOne() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(10);
    Results results = rig.fetch(5 * WireLimits.KEYS_PER_LOCATE);
    rig.awaitDial();
    ScriptedReaderChannel channel = rig.dialer.pending().get(0).connect(4, 128);

    assertThat(sent(channel)).hasSize(3);
    assertThat(keys(sent(channel).get(0))).isEqualTo(WireLimits.KEYS_PER_LOCATE);
    owner.answer(channel.requests().get(0));
    assertThat(sent(channel)).hasSize(3);
    rig.serve(channel, owner);
    assertThat(results.arrived()).isEqualTo(5 * WireLimits.KEYS_PER_LOCATE);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void readsStartBeforeAllPlacesAreKnown() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(10);
    Results results = rig.fetch(2 * WireLimits.KEYS_PER_LOCATE);
    ScriptedReaderChannel channel = rig.connect();

    owner.answer(channel.requests().get(1)); // not even in the order asked

    assertThat(channel.reads()).isNotEmpty();
    rig.complete(channel.reads().get(0));
    rig.settle();
    assertThat(results.arrived()).isEqualTo(ReadPump.CHAIN_READS);
    assertThat(results.hasBlock(WireLimits.KEYS_PER_LOCATE)).isTrue();
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void noMoreIsLocatedWhileAWindowsWorthWaitsToBeRead() {
    ClientRig rig = new ClientRig(Setup.standard().withWindow(64 << 10));
    Owner owner = new Owner(30_000);
    Results results = rig.fetch(3 * WireLimits.KEYS_PER_LOCATE);
    rig.awaitDial();
    ScriptedReaderChannel channel = rig.dialer.pending().get(0).connect(1, 128);
    owner.answersPerReply(20);

    owner.answer(channel.requests().get(0));

    assertThat(channel.requests()).isEmpty();
    while (!channel.reads().isEmpty()) {
      assertThat(owner.leases()).isLessThanOrEqualTo(2);
      rig.complete(channel.reads().get(0));
      rig.settle();
      rig.answerRequests(channel, owner);
      results.checkWhatCame(owner);
    }
    results.checkAndClose(owner);
    end(rig, channel);
  }

  /** However small the blocks are: an owner closes the connection of a reader that holds more. */
  @Test
  void noMoreIsLocatedWhileAsManyLeasesAreHeldAsAReaderMay() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(1);
    int most = WireLimits.mostLeases(4);
    Results results = rig.fetch(3 * most * WireLimits.KEYS_PER_LOCATE);
    rig.awaitDial();
    ScriptedReaderChannel channel = rig.dialer.pending().get(0).connect(4, 128);

    while (!channel.requests().isEmpty()) { // nothing is read meanwhile
      rig.answerRequests(channel, owner);
    }

    assertThat(owner.leases()).isEqualTo(most);
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void fetchesOfOnePeerTakeTurns() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(10);
    Results longOne = rig.fetch(20 * WireLimits.KEYS_PER_LOCATE);
    Results shortOne = rig.fetch(10);
    rig.awaitDial();
    ScriptedReaderChannel channel = rig.dialer.pending().get(0).connect(1, 128);

    owner.answer(channel.requests().get(0));
    owner.answer(channel.requests().get(0));
    while (!channel.reads().isEmpty()) {
      rig.complete(channel.reads().get(0));
    }
    rig.settle();

    assertThat(shortOne.isComplete()).isTrue();
    assertThat(longOne.isComplete()).isFalse();
    rig.serve(channel, owner);
    longOne.checkAndClose(owner);
    shortOne.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void noMoreBytesAreInFlightThanTheWindowAllows() {
    ClientRig rig = new ClientRig(Setup.standard().withWindow(100_000).withReadBytes(10_000));
    Owner owner = new Owner(25_000);
    Results results = rig.fetch(20);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, owner);

    int rounds = 0;
    while (!channel.reads().isEmpty()) {
      long inFlight =
          channel.reads().stream()
              .flatMap(chain -> chain.posted().stream())
              .mapToLong(ScriptedReaderChannel.PostedRead::bytes)
              .sum();
      assertThat(inFlight).isLessThanOrEqualTo(100_000);
      rig.complete(channel.reads().get(0));
      rig.settle();
      rounds++;
    }

    assertThat(rounds).isGreaterThanOrEqualTo(5);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void anEmptyWindowAdmitsAReadOfAnySize() {
    ClientRig rig = new ClientRig(Setup.standard().withWindow(1000));
    Owner owner = new Owner(50_000);
    Results results = rig.fetch(2);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, owner);

    assertThat(channel.reads()).hasSize(1);
    assertThat(channel.reads().get(0).posted()).hasSize(1);
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void chainsAreBoundedByTheirLengthAndTheReadCredit() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(100);
    Results results = rig.fetch(200);
    rig.awaitDial();
    ScriptedReaderChannel channel = rig.dialer.pending().get(0).connect(16, 70);
    rig.answerRequests(channel, owner);

    assertThat(channel.reads().stream().map(chain -> chain.posted().size()))
        .containsExactly(32, 32, 6);
    rig.complete(channel.reads().get(2));
    assertThat(channel.reads().stream().map(chain -> chain.posted().size()))
        .containsExactly(32, 32, 6);
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void chainsMayCompleteInAnyOrder() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(3000);
    List<BlockKey> keys = rig.keys(100);
    keys.forEach(key -> owner.place(key, 1000, 1000, 1000));
    Results results = rig.fetch(ClientRig.PEER, keys);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, owner);

    while (!channel.reads().isEmpty()) {
      rig.complete(channel.reads().get(channel.reads().size() - 1));
      rig.settle();
    }

    assertThat(results.arrived()).isEqualTo(100);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void theBlocksOfOneChainAreDeliveredByOneTask() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(100);
    Results results = rig.fetch(32);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, owner);
    rig.threads.delivery().pause();

    rig.complete(channel.reads().get(0));
    assertThat(rig.loop.pendingTasks()).isEqualTo(1);
    rig.settle();

    assertThat(rig.threads.delivery().pending()).isEqualTo(1);
    rig.threads.delivery().resume();
    rig.serve(channel, owner);
    assertThat(results.arrived()).isEqualTo(32);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void leasesRideOnTheNextLocate() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(100);
    Results first = rig.fetch(1);
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);
    assertThat(owner.leases()).isEqualTo(1);

    Results second = rig.fetch(1);

    assertThat(((Request.Locate) sent(channel).get(0)).releases()).hasSize(1);
    rig.serve(channel, owner);
    first.checkAndClose(owner);
    second.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void leasesGoByThemselvesWhenNoLocateComes() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(100);
    Results results = rig.fetch(1);
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);

    rig.advance(Duration.ofNanos(LeaseReturns.FLUSH_NS - 1));
    assertThat(channel.requests()).isEmpty();
    rig.advance(Duration.ofNanos(1));

    assertThat(sent(channel)).hasSize(1);
    assertThat(((Request.Release) sent(channel).get(0)).leases()).hasSize(1);
    rig.serve(channel, owner);
    assertThat(owner.leases()).isZero();
    results.checkAndClose(owner);
    end(rig, channel);
  }

  /** An owner that leaves keys out has no room for them until these leases are back. */
  @Test
  void leasesOfAnOwnerThatIsShortOfMemoryGoAtOnce() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(100);
    owner.answersPerReply(2);
    Results results = rig.fetch(4);
    ScriptedReaderChannel channel = rig.connect();
    owner.answer(channel.requests().get(0));
    assertThat(sent(channel)).as("asks again").hasSize(1);

    rig.complete(channel.reads().get(0));

    assertThat(sent(channel)).hasSize(2);
    assertThat(((Request.Release) sent(channel).get(1)).leases()).hasSize(1);
    rig.serve(channel, owner);
    assertThat(results.arrived()).isEqualTo(4);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  /** One LOCATE that the owner works on, one whose blocks are read: the next takes its lease. */
  @Test
  void anOwnerThatIsShortOfMemoryIsAskedForFewKeysByFewLocates() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(100);
    owner.answersPerReply(10);
    Results first = rig.fetch(20);
    ScriptedReaderChannel channel = rig.connect();
    rig.serve(channel, owner);
    first.checkAndClose(owner);

    Results results = rig.fetch(4 * WireLimits.KEYS_PER_LOCATE);

    assertThat(sent(channel)).hasSize(2);
    for (int round = 0; round < 5; round++) {
      owner.answer(channel.requests().get(0));
      assertThat(sent(channel)).as("the other").hasSize(1);
      while (!channel.reads().isEmpty()) {
        rig.complete(channel.reads().get(0));
      }
      assertThat(sent(channel)).hasSize(2);
      Request.Locate next = (Request.Locate) sent(channel).get(1);
      assertThat(next.keys()).hasSize(20);
      assertThat(next.releases()).isNotEmpty();
    }
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void leasesOfAnOwnerThatIsShortNoMoreWaitForTheNextLocate() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(100);
    owner.answersPerReply(2);
    Results results = rig.fetch(4);
    ScriptedReaderChannel channel = rig.connect();
    owner.answer(channel.requests().get(0));
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    for (int most = 8; most < WireLimits.KEYS_PER_LOCATE; most *= 2) {
      Results answered = rig.fetch(1);
      rig.serve(channel, owner);
      answered.checkAndClose(owner);
    }

    Results last = rig.fetch(1);
    rig.serve(channel, owner);

    assertThat(owner.leases()).as("one waits").isEqualTo(1);
    last.checkAndClose(owner);
    end(rig, channel);
  }

  /** An owner may let LOCATEs wait for the very memory that these leases hold. */
  @Test
  void leasesGoBackWhileAllLocatesWait() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(10);
    Results results = rig.fetch(5 * WireLimits.KEYS_PER_LOCATE);
    rig.awaitDial();
    ScriptedReaderChannel channel = rig.dialer.pending().get(0).connect(3, 128);
    owner.answer(channel.requests().get(0));
    for (PendingRead read : channel.reads()) {
      rig.complete(read);
    }
    while (!channel.reads().isEmpty()) {
      rig.complete(channel.reads().get(0));
      rig.settle();
    }
    assertThat(sent(channel)).hasOnlyElementsOfType(Request.Locate.class);

    rig.advance(Duration.ofNanos(LeaseReturns.FLUSH_NS));

    assertThat(sent(channel)).hasAtLeastOneElementOfType(Request.Release.class);
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void aLeaseIsKeptUntilTheLastReadOfItsFrame() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(100);
    Results results = rig.fetch(40);
    ScriptedReaderChannel channel = rig.connect();
    rig.answerRequests(channel, owner);
    assertThat(channel.reads()).hasSize(2);

    rig.complete(channel.reads().get(0));
    rig.advance(Duration.ofMillis(10));
    assertThat(channel.requests()).isEmpty();
    rig.complete(channel.reads().get(0));
    rig.advance(Duration.ofMillis(10));

    assertThat(sent(channel).get(0)).isInstanceOf(Request.Release.class);
    rig.serve(channel, owner);
    results.checkAndClose(owner);
    end(rig, channel);
  }

  @Test
  void manyLeasesGoInSeveralFrames() {
    ClientRig rig = new ClientRig();
    Owner owner = new Owner(10);
    int frames = 2 * WireLimits.RELEASES_PER_FRAME + 10;
    owner.answersPerReply(1);
    Results results = rig.fetch(frames);
    ScriptedReaderChannel channel = rig.connect();

    while (!results.isComplete()) {
      rig.answerRequests(channel, owner);
      List<PendingRead> reads = channel.reads();
      reads.forEach(rig::complete);
      rig.settle();
    }
    rig.advance(Duration.ofMillis(10));
    rig.serve(channel, owner);

    assertThat(owner.leases()).isZero();
    results.checkAndClose(owner);
    end(rig, channel);
  }
}
