package io.rdmashuffle.mapreduce.nm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.mapreduce.JobCredential;
import io.rdmashuffle.mapreduce.reduce.SegmentBatch;
import io.rdmashuffle.mapreduce.reduce.TestGates;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.NanoClock;
import io.rdmashuffle.transport.ReaderTransport;
import io.rdmashuffle.transport.Transport;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient.FetchListener;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TaskAttemptID;

/** A reduce task's transport on the software adapter. */
final class SoftReader implements AutoCloseable {
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
  private final ReaderTransport transport;
  private final Peer node;

  /** What came: a {@link Read} or a {@link FallbackReason} for each key. */
  record Fetched(List<BlockKey> keys, Map<Integer, Object> outcomes) {
    Read read(int index) {
      assertThat(outcomes.get(index)).as("%s", keys.get(index)).isInstanceOf(Read.class);
      return (Read) outcomes.get(index);
    }

    FallbackReason reason(int index) {
      assertThat(outcomes.get(index)).as("%s", keys.get(index)).isInstanceOf(FallbackReason.class);
      return (FallbackReason) outcomes.get(index);
    }

    long fallbacks() {
      return outcomes.values().stream().filter(FallbackReason.class::isInstance).count();
    }
  }

  /** A block that came, closed since. */
  record Read(byte[] bytes, long attribute, Block.Source source) {}

  SoftReader(VerbsProvider soft, int port, JobCredential credential) throws Exception {
    this(
        soft,
        port,
        credential,
        TransportSettings.defaults(new MemoryBudget.Bound(128L << 20, "the test's bound", "none")));
  }

  SoftReader(VerbsProvider soft, int port, JobCredential credential, TransportSettings settings)
      throws Exception {
    Invitation invitation =
        new Invitation.Ticket(
            List.of(new InetSocketAddress(LOOPBACK, port)), credential.id(), credential.secret());
    node = new Peer("node", LOOPBACK.getHostAddress(), port);
    transport =
        ReaderTransport.open(
            new Transport.Site(soft.lent(), LOOPBACK, "reduce", NanoClock.system()),
            peer -> CompletableFuture.completedFuture(invitation),
            settings);
  }

  /** Those of reduce 0, as the fetchers of a task with these settings read them. */
  List<SegmentBatch> batches(JobConf task, List<? extends List<TaskAttemptID>> attempts) {
    return TestGates.batches(transport.client(), node, task, attempts);
  }

  long level(String name) {
    return transport.levels().get(name);
  }

  /** The segments of one reduce, as a fetcher reads them; the caller closes it. */
  SegmentBatch batch(int reduce, List<? extends TaskAttemptID> attempts) {
    return TestGates.batch(transport.client(), node, reduce, attempts);
  }

  Fetched fetch(BlockKey... keys) throws InterruptedException {
    return fetch(List.of(keys));
  }

  Fetched fetch(List<BlockKey> keys) throws InterruptedException {
    Fetched fetched = new Fetched(keys, new ConcurrentHashMap<>());
    CountDownLatch left = new CountDownLatch(keys.size());
    transport.client().fetch(node, keys, new Listener(fetched, left));
    assertThat(left.await(40, TimeUnit.SECONDS)).as("all reported in time").isTrue();
    return fetched;
  }

  private record Listener(Fetched fetched, CountDownLatch left) implements FetchListener {
    @Override
    public void onBlock(int index, Block block) {
      try (block) {
        byte[] bytes = new byte[(int) block.bytes()];
        block.stream().readNBytes(bytes, 0, bytes.length);
        report(index, new Read(bytes, block.attribute(), block.source()));
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void onFallback(int[] indices, FallbackReason reason) {
      for (int index : indices) {
        report(index, reason);
      }
    }

    private void report(int index, Object outcome) {
      fetched.outcomes.put(index, outcome);
      left.countDown();
    }
  }

  @Override
  public void close() {
    transport.close();
    assertThat(transport.levels().values()).as("%s", transport.levels()).containsOnly(0L);
  }
}
