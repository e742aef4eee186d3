package io.rdmashuffle.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.verbs.RigEnd.Completion;
import io.rdmashuffle.transport.verbs.RigPair.Chain;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** RDMA READs that must fail, and what else must and must not break with them. */
public interface ReadFailureContract extends RigTest {
  @Test
  default void readWithoutTheRemoteReadRightFails() throws Exception {
    RigPair pair = rig().connectWithoutRights();

    assertForbidden(pair, rig().source(4096));
  }

  @Test
  default void readAfterTheRightWasTakenAwayFails() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    assertThat(pair.read(1, source, rig().sink(4096), 4096).status()).isEqualTo(WcStatus.SUCCESS);

    pair.server().queuePair().allowRemoteReads(false);

    assertForbidden(pair, source);
  }

  @Test
  default void readWithAWrongKeyFails() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    ReadChain read = new ReadChain(1).add(4096);
    read.stamp(0, 5);
    read.from(source.region().address(), source.region().rkey() ^ 0x5a5a5a);
    read.into(sink.region().address(), sink.region().lkey());

    pair.client().queuePair().postReads(read);

    assertBroken(pair, rig().client().completion(), sink);
  }

  @Test
  default void readPastTheEndFails() throws Exception {
    assertFails(rig().connect(), rig().source(8192), 4097, 4096);
  }

  @Test
  default void readBeforeTheStartFails() throws Exception {
    assertFails(rig().connect(), rig().source(8192), -1, 4096);
  }

  @Test
  default void readFarOutsideFails() throws Exception {
    assertFails(rig().connect(), rig().source(4096), -rig().source(4096).region().address(), 64);
  }

  @Test
  default void readOfAnotherDomainsRegionFails() throws Exception {
    RigPair pair = rig().connect();
    ProtectionDomain other = rig().own(rig().server().device().allocateProtectionDomain());

    assertFails(pair, rig().memory(other, 4096, Access.REMOTE_READ), 0, 4096);
  }

  @Test
  default void readOfARegionWithoutTheRightFails() throws Exception {
    assertForbidden(rig().connect(), rig().memory(rig().server(), 4096, Access.LOCAL_WRITE));
  }

  @Test
  default void readOfADeregisteredRegionFails() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    assertThat(pair.read(1, source, sink, 4096).status()).isEqualTo(WcStatus.SUCCESS);

    source.region().close();

    assertFails(pair, source, 0, 4096);
  }

  @Test
  default void readIntoARegionThatMayNotBeWrittenFails() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().memory(rig().client(), 4096, Access.LOCAL_READ);
    byte[] before = sink.bytes();

    Completion failed = pair.read(5, source, sink, 4096);

    assertThat(failed.status()).isNotIn(WcStatus.SUCCESS, WcStatus.WR_FLUSH_ERR);
    assertThat(sink.bytes()).isEqualTo(before);
  }

  @Test
  default void readIntoForeignMemoryFails() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    Chain read = RigPair.chain(1).add(5, 4096).from(source).into(sink, 1);

    pair.client().queuePair().postReads(read.reads());

    Completion failed = rig().client().completion();
    assertThat(failed.wrId()).isEqualTo(5);
    assertThat(failed.status()).isNotIn(WcStatus.SUCCESS, WcStatus.WR_FLUSH_ERR);
  }

  @Test
  default void failedReadFlushesWhatWasPostedAfterIt() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    QueuePair queuePair = pair.client().queuePair();
    queuePair.postReceive(50, sink.region().address(), 64, sink.region().lkey());
    Chain chain = RigPair.chain(4);
    chain.add(1, 64).from(source).into(sink);
    chain.add(2, 64).from(source, 4096).into(sink, 64); // past the end: fails
    chain.add(3, 64).from(source).into(sink, 128);
    chain.add(4, 64).from(source).into(sink, 192);

    queuePair.postReads(chain.reads());

    // The first succeeds unsignalled. The third says nothing or that it was flushed: adapters
    // differ in whether an unsignalled request of a broken pair completes (ibv_poll_cq(3) leaves it
    // open).
    List<Completion> completions = new ArrayList<>();
    while (completions.stream().noneMatch(c -> c.wrId() == 4)
        || completions.stream().noneMatch(c -> c.wrId() == 50)) {
      completions.add(rig().client().completion());
    }
    assertThat(completions).extracting(Completion::wrId).doesNotContain(1L);
    assertThat(completions)
        .filteredOn(c -> c.wrId() == 2)
        .singleElement()
        .extracting(Completion::status)
        .satisfies(status -> assertRemoteError(status));
    assertThat(completions)
        .filteredOn(c -> c.wrId() != 2)
        .extracting(Completion::status)
        .containsOnly(WcStatus.WR_FLUSH_ERR);
    assertThat(sink.bytes(64, 192)).containsOnly(0);
  }

  @Test
  default void failureLeavesOtherConnectionsAlone() throws Exception {
    RigPair broken = rig().connect();
    RigPair healthy = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);

    assertFails(broken, source, 4096, 64);

    assertThat(healthy.read(7, source, sink, 4096).status()).isEqualTo(WcStatus.SUCCESS);
    assertThat(sink.bytes()).isEqualTo(source.bytes());
  }

  @Test
  default void movingToErrorFlushesEverythingPosted() throws Exception {
    RigPair pair = rig().connect();
    RigMemory sink = rig().sink(4096);
    QueuePair queuePair = pair.client().queuePair();
    for (int i = 0; i < 10; i++) {
      queuePair.postReceive(i, sink.region().address() + i * 64L, 64, sink.region().lkey());
    }

    queuePair.toError();
    queuePair.toError();

    List<Completion> flushed = rig().client().completions(10);
    assertThat(flushed)
        .extracting(Completion::wrId)
        .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(flushed).extracting(Completion::status).containsOnly(WcStatus.WR_FLUSH_ERR);
    assertThat(rig().client().strayCompletions()).isEmpty();
  }

  @Test
  default void postingToAPairInErrorFlushes() throws Exception {
    RigPair pair = rig().connect();
    RigMemory source = rig().source(4096);
    RigMemory sink = rig().sink(4096);
    pair.client().queuePair().toError();

    assertPostedInErrorIsFlushed(pair, source, sink, 4096);

    assertThat(sink.bytes()).containsOnly(0);
  }

  @Test
  default void closedPairWritesNoMore() throws Exception {
    int bytes = 16 << 20;
    RigPair pair = rig().connect();
    RigMemory source = rig().source(bytes);
    RigMemory sink = rig().sink(bytes);
    for (int i = 0; i < 16; i++) {
      pair.postRead(i, source, sink, bytes);
    }

    pair.client().queuePair().close();
    sink.fill((byte) 77);
    rig().client().strayCompletions(); // time for a late write

    byte[] untouched = new byte[bytes];
    Arrays.fill(untouched, (byte) 77);
    assertThat(Arrays.equals(sink.bytes(), untouched)).as("sink as it was filled").isTrue();
  }

  private void assertFails(RigPair pair, RigMemory source, long offset, int bytes)
      throws VerbsException {
    RigMemory sink = rig().sink(bytes);
    Chain read = RigPair.chain(1).add(5, bytes).from(source, offset).into(sink);
    pair.client().queuePair().postReads(read.reads());
    assertBroken(pair, rig().client().completion(), sink);
  }

  private void assertBroken(RigPair pair, Completion failed, RigMemory sink) throws VerbsException {
    assertThat(failed.wrId()).isEqualTo(5);
    assertRemoteError(failed.status());
    assertThat(failed.qpNumber()).isEqualTo(pair.client().queuePair().number());
    assertThat(sink.bytes()).containsOnly(0);
    assertPostedInErrorIsFlushed(pair, sink, sink, 1);
  }

  private void assertRemoteError(WcStatus status) throws VerbsException {
    if (rig().traits().namesRemoteErrors()) {
      assertThat(status).isNotIn(WcStatus.SUCCESS, WcStatus.WR_FLUSH_ERR);
    } else {
      assertThat(status).isNotEqualTo(WcStatus.SUCCESS);
    }
  }

  private void assertPostedInErrorIsFlushed(
      RigPair pair, RigMemory source, RigMemory sink, int bytes) throws VerbsException {
    if (rig().traits().flushesWhatIsPostedInError()) {
      assertThat(pair.read(6, source, sink, bytes).status()).isEqualTo(WcStatus.WR_FLUSH_ERR);
    } else {
      pair.postRead(6, source, sink, bytes);
      assertThat(rig().client().strayCompletions()).isEmpty();
    }
  }

  /** The memory is there, but the peer may not READ it. */
  private void assertForbidden(RigPair pair, RigMemory source) throws VerbsException {
    if (rig().traits().checksReadRights()) {
      assertFails(pair, source, 0, 4096);
    } else {
      assertThat(pair.read(5, source, rig().sink(4096), 4096).status()).isEqualTo(WcStatus.SUCCESS);
    }
  }
}
