package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.core.adapter.AdapterLifecycle.Opener;
import io.rdmashuffle.core.adapter.AdapterRules;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.ReadingTransport;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.testing.TestTransport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;

/** Sessions over a client of the test's own, for tests of other packages. */
public final class TestGates {
  /** The longest wait for one piece. */
  public static final Duration PIECE_TIMEOUT = Duration.ofSeconds(2);

  /** Long enough for no host to be asked twice in a test. */
  private static final Duration REST = Duration.ofMinutes(5);

  private TestGates() {}

  /**
   * @param closed counts how often the session's transport was closed
   */
  public static ReduceSession session(
      BlockClient client, int pieceBytes, ShuffleCounters.Sink counters, AtomicInteger closed) {
    return new ReduceSession(
        new ReduceSession.Parts(
            client,
            closed::incrementAndGet,
            new JobPeers(1, new byte[] {1}),
            httpPort -> httpPort + 1,
            SegmentServer.keys(0),
            limits(pieceBytes, 8, PIECE_TIMEOUT),
            new HostHealth(NanoClock.system(), REST, REST),
            new ShuffleCounters(counters)));
  }

  /** For one batch at a time, with a window of so many pieces. */
  static BatchLimits limits(int pieceBytes, int pieces, Duration pieceTimeout) {
    long windowBytes = (long) pieces * pieceBytes;
    return new BatchLimits(
        pieceBytes, new WindowShares(2 * windowBytes, pieceBytes, windowBytes), pieceTimeout);
  }

  /** Segments as a fetcher with Hadoop's defaults reads them. */
  public static SegmentBatch batch(
      BlockClient client, Peer node, int reduce, List<? extends TaskAttemptID> attempts) {
    BatchLimits limits = ReduceSettings.from(new JobConf(false)).limits();
    return new SegmentBatch(client, node, new JobKeys(reduce), limits, attempts);
  }

  /** Those of several fetchers of one task, which share what its settings give them. */
  public static List<SegmentBatch> batches(
      BlockClient client, Peer node, JobConf task, List<? extends List<TaskAttemptID>> attempts) {
    BatchLimits limits = ReduceSettings.from(task).limits();
    return attempts.stream()
        .map(some -> new SegmentBatch(client, node, new JobKeys(0), limits, some))
        .toList();
  }

  /** A client of the test's own on no adapter. */
  static ReadingTransport transport(BlockClient client, Runnable closing) {
    return new TestTransport() {
      @Override
      public BlockClient client() {
        return client;
      }

      @Override
      public void close() {
        closing.run();
      }
    };
  }

  /**
   * A gate that opens this client, and is otherwise as in a task.
   *
   * @param closed counts how often the transport was closed
   */
  public static ReduceGate gate(BlockClient client, AtomicInteger closed) {
    return gate(() -> transport(client, closed::incrementAndGet));
  }

  /** A gate of a host without a device. */
  public static ReduceGate gateWithoutDevice() {
    return gate(
        () -> {
          throw new TransportException(Kind.CONFIG, "no RDMA adapter");
        });
  }

  /** A gate that opens an adapter in this way. */
  static ReduceGate gate(Opener<ReadingTransport> opener) {
    return gate(PIECE_TIMEOUT, opener);
  }

  /** The same with a time limit. */
  static ReduceGate gate(Duration openTimeout, Opener<ReadingTransport> opener) {
    AdapterRules rules =
        AdapterRules.forTask("this test", "stock is used", openTimeout, PIECE_TIMEOUT);
    return new ReduceGate((settings, name, discovery) -> new AdapterLifecycle<>(rules, opener));
  }
}
