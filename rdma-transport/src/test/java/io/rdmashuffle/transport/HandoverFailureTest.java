package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.handover.Gate;
import io.rdmashuffle.transport.testing.FailingGate;
import io.rdmashuffle.transport.testing.Patience;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each hand-over between two threads fails once, on either side of a connection. */
final class HandoverFailureTest extends TransportHarness {
  /** Blocks of one file each: inline, read in place, and more than the pool has room for. */
  private static final int[][] SIZES = {
    {100},
    {70_000, 200_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000, 150_000},
    {60_000, 60_000, 60_000, 60_000, 60_000, 90_000}
  };

  private static final int STAGED = 5;

  private static final List<Counter> KINDS =
      List.of(
          Counter.BLOCKS_INLINE,
          Counter.BLOCKS_STAGED,
          Counter.BLOCKS_READ,
          Counter.BLOCKS_COPIED_OUT);

  private static final Duration LIMIT = Patience.seconds(10);

  private final FakeFabric fabric = FakeFabric.immediate();
  private final FailingGate failing = new FailingGate();

  @Override
  protected VerbsProvider provider() {
    return fabric.newProcess(Long.MAX_VALUE, 4096);
  }

  @Override
  protected InetAddress address() {
    return fabric.addAdapter();
  }

  @Override
  protected void assertNothingOpen() {
    fabric.assertNothingOpen();
  }

  @Override
  protected Gate gate() {
    return failing;
  }

  private static TransportSettings settings() {
    return smallPool(
        LIMIT.dividedBy(2),
        Patience.transportDefaults(ENOUGH).client().memoryTimeout(),
        Duration.ofMillis(20),
        Duration.ofMillis(100));
  }

  @Test
  void eachBlockIsReportedOnceAndTheNextFetchComesByRdma() throws Exception {
    int runs = 0;
    while (failsOnceAt(++runs)) {
      closeAll();
    }
    assertThat(runs)
        .as("hand-overs of a fetch from connecting to its last block")
        .isGreaterThan(20);
  }

  /** Returns false if there are not so many hand-overs. */
  private boolean failsOnceAt(int nth) throws Exception {
    Process owner = new Process("owner-" + nth, settings());
    Process reader = new Process("reader-" + nth, settings());
    List<BlockKey> keys = new ArrayList<>();
    for (int[] sizes : SIZES) {
      keys.addAll(owner.outputs.write(sizes));
    }
    for (int i = 0; i < STAGED; i++) {
      keys.add(owner.outputs.write(6000, 6000, 6000).get(1)); // too little of it to register it
    }
    Collected first = new Collected(keys);

    failing.failAt(nth);
    try {
      reader.transport.client().fetch(owner.peer, keys, first);
      first.await(LIMIT).checkWhatCame(owner.outputs);
    } catch (OutOfMemoryError atTheCaller) {
      assertThat(first.arrived()).as("not taken, so not reported").isZero();
    }
    long deadlineNs = NanoClock.system().nanoTime() + LIMIT.toNanos();
    int arrived = 0;
    while (arrived < keys.size() && NanoClock.system().nanoTime() - deadlineNs < 0) {
      arrived = fetch(reader, owner, keys);
    }
    assertThat(arrived).as("by RDMA after hand-over %d failed", nth).isEqualTo(keys.size());
    boolean failed = failing.end();
    if (!failed) {
      for (Counter kind : KINDS) {
        assertThat(reader.transport.counters().value(kind)).as("%s", kind).isPositive();
      }
    }
    return failed;
  }

  private static int fetch(Process reader, Process owner, List<BlockKey> keys) throws Exception {
    try {
      return reader.fetch(owner, keys).await(LIMIT).checkWhatCame(owner.outputs).arrived();
    } catch (OutOfMemoryError atTheCaller) {
      return 0;
    }
  }
}
