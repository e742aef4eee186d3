package io.rdmashuffle.mapreduce.reduce;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.core.adapter.AdapterState;
import io.rdmashuffle.mapreduce.nm.Waiting;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.ReadingTransport;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.BlockClient.FetchListener;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.testing.fake.FakeFabric;
import io.rdmashuffle.transport.testing.fake.Resource;
import io.rdmashuffle.transport.verbs.AsyncEvent;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A reduce task whose adapter goes away under it, over the in-memory fake. */
final class LostAdapterOfATaskTest {
  private final FakeFabric fabric = FakeFabric.immediate();
  private final VerbsProvider process = fabric.newProcess(Long.MAX_VALUE, 4096);
  private final InetAddress adapter = fabric.addAdapter();

  @AfterEach
  void nothingIsLeft() {
    fabric.assertNothingOpen();
  }

  private AdapterLifecycle<ReadingTransport> adapter() {
    return ReduceGate.ofThisHost(
        engine -> new AdapterFinder.Found(process, adapter),
        ReduceSettings.from(new JobConf(false)),
        "reduce",
        peer -> CompletableFuture.failedFuture(new IllegalStateException("nobody is dialled")));
  }

  private static BlockClient client(AdapterLifecycle<ReadingTransport> life) throws Exception {
    return ((AdapterState.Open<ReadingTransport>) life.open()).transport().client();
  }

  @Test
  void aReaderIsClosedWithItsAdapterOpen() throws Exception {
    AdapterLifecycle<ReadingTransport> life = adapter();
    assertThat(client(life)).isNotNull();
    assertThat(fabric.openCount(Resource.DEVICE)).isOne();
    life.close();
    life.close();
  }

  @Test
  void aReaderWhoseAdapterIsRemovedIsClosedWhileItsTaskGoesOn() throws Exception {
    AdapterLifecycle<ReadingTransport> life = adapter();
    BlockClient client = client(life);

    fabric.raise(adapter, new AsyncEvent(AsyncEvent.Type.DEVICE_REMOVED, 11));

    Waiting.until(() -> fabric.openCount(Resource.DEVICE) == 0);
    assertThat(reasonOf(client)).isEqualTo(FallbackReason.STOPPING);
    life.close();
  }

  private static FallbackReason reasonOf(BlockClient client) throws Exception {
    CompletableFuture<FallbackReason> reason = new CompletableFuture<>();
    client.fetch(
        new Peer("node", "127.0.0.1", 1),
        List.of(new BlockKey(0, 0, 0, 1)),
        new FetchListener() {
          @Override
          public void onBlock(int index, Block block) {
            reason.completeExceptionally(new AssertionError("a block came"));
          }

          @Override
          public void onFallback(int[] indices, FallbackReason why) {
            reason.complete(why);
          }
        });
    return reason.get(10, TimeUnit.SECONDS);
  }
}
