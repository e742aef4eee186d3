package io.rdmashuffle.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.core.adapter.AdapterLifecycle;
import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import io.rdmashuffle.spark.runtime.EngineCounters;
import io.rdmashuffle.spark.runtime.FallbackPolicy;
import io.rdmashuffle.spark.runtime.PeerExecutor;
import io.rdmashuffle.spark.runtime.ShuffleRuntime;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileManager;
import org.apache.spark.network.util.TransportConf;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RdmaBlockStoreClientTest {
  private static final String A = "shuffle_1_10_3";
  private static final String B = "shuffle_1_11_3";
  private static final String C = "shuffle_1_12_3_5";
  private static final byte[] CONTENT = {1, 2, 3};

  private final ScriptedEngine engine = new ScriptedEngine();
  private final ScriptedTransport transport = new ScriptedTransport();
  private final PeerExecutor executor = new PeerExecutor(2);
  private ShuffleRuntime runtime;
  private RdmaBlockStoreClient client;

  @BeforeEach
  void open() throws TransportException {
    executor.open();
    open(Mode.AUTO);
  }

  private void open(Mode mode) {
    runtime =
        new ShuffleRuntime(
            new FallbackPolicy(mode, "mode", Optional.empty()),
            new MapOutputCatalog((group, output) -> null),
            rules -> new AdapterLifecycle<>(rules, () -> transport));
    runtime.open();
    client = new RdmaBlockStoreClient(new FetchServices(runtime, engine, executor));
  }

  @AfterEach
  void close() {
    runtime.close();
    executor.close();
  }

  private void fetch(RecordingListener listener, String... ids) {
    client.fetchBlocks("host", 7337, "4", ids, listener, null);
  }

  private EngineCounters counters() {
    return runtime.engineCounters();
  }

  @Test
  void blocksComeByRdmaAndAreClosedWhenSparkReleasesThem() {
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, A, C);
    assertThat(transport.fetches).hasSize(1);
    assertThat(transport.fetches.get(0).peer()).isEqualTo(new Peer("4", "host", 7337));
    assertThat(transport.fetches.get(0).keys())
        .containsExactly(new BlockKey(1, 10, 3, 4), new BlockKey(1, 12, 3, 5));
    TestBlock first = new TestBlock(CONTENT);
    TestBlock second = new TestBlock(CONTENT);
    transport.fetches.get(0).listener().onBlock(1, second);
    transport.fetches.get(0).listener().onBlock(0, first);
    assertThat(listener.callbacks)
        .containsExactly("success " + C + " by RDMA", "success " + A + " by RDMA");
    assertThat(first.closes + second.closes).isZero();
    listener.buffers.values().forEach(buffer -> buffer.release());
    assertThat(first.closes).isEqualTo(1);
    assertThat(second.closes).isEqualTo(1);
    assertThat(engine.calls).isEmpty();
  }

  @Test
  void blockForATaskThatIsOverIsClosedAtOnce() {
    RecordingListener listener = new RecordingListener(1, false);
    fetch(listener, A);
    TestBlock block = new TestBlock(CONTENT);
    transport.fetches.get(0).listener().onBlock(0, block);
    assertThat(block.closes).isEqualTo(1);
  }

  @Test
  void whatRdmaGivesBackComesThroughTheEngineOffTheDeliveryThread() throws Exception {
    RecordingListener listener = new RecordingListener(3);
    fetch(listener, A, B, C);
    BlockClient.FetchListener delivery = transport.fetches.get(0).listener();
    delivery.onBlock(1, new TestBlock(CONTENT));
    delivery.onFallback(new int[] {0, 2}, FallbackReason.TRANSFER_FAILED);
    listener.awaitAll();
    assertThat(listener.callbacks)
        .containsExactlyInAnyOrder("success " + A, "success " + B + " by RDMA", "success " + C);
    assertThat(engine.calls)
        .containsExactly(new ScriptedEngine.Call("host", 7337, "4", List.of(A, C), false));
    assertThat(engine.callers.get(0)).isNotEqualTo(Thread.currentThread());
    assertThat(counters().blocks(FallbackReason.TRANSFER_FAILED)).isEqualTo(2);
    assertThat(counters().bytes(FallbackReason.TRANSFER_FAILED)).isEqualTo(8);
  }

  @Test
  void onlyTheEnginesOwnFailureReachesSpark() throws Exception {
    engine.failing.add(B);
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, A, B);
    transport.fetches.get(0).listener().onFallback(new int[] {0, 1}, FallbackReason.CONNECT_FAILED);
    listener.awaitAll();
    assertThat(listener.callbacks).containsExactlyInAnyOrder("success " + A, "failure " + B);
    assertThat(counters().blocks(FallbackReason.CONNECT_FAILED)).isEqualTo(1);
    assertThat(counters().failedBlocks()).isEqualTo(1);
  }

  @Test
  void eachIdIsReportedOnceWhateverTheTransportSaysTwice() throws Exception {
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, A, B);
    BlockClient.FetchListener delivery = transport.fetches.get(0).listener();
    TestBlock late = new TestBlock(CONTENT);
    delivery.onBlock(0, new TestBlock(CONTENT));
    delivery.onBlock(0, late);
    delivery.onFallback(new int[] {0, 1}, FallbackReason.TRANSFER_FAILED);
    delivery.onFallback(new int[] {1}, FallbackReason.TRANSFER_FAILED);
    listener.awaitAll();
    executor.close();
    assertThat(listener.callbacks).containsExactly("success " + A + " by RDMA", "success " + B);
    assertThat(late.closes).isEqualTo(1);
  }

  @Test
  void engineThatThrowsHalfwayFailsTheRestOnce() throws Exception {
    engine.thrownAfterFirst = new IllegalStateException("scripted");
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, A, B);
    transport.fetches.get(0).listener().onFallback(new int[] {0, 1}, FallbackReason.NO_MEMORY);
    listener.awaitAll();
    assertThat(listener.callbacks).containsExactly("success " + A, "failure " + B);
  }

  @Test
  void transportThatThrowsIsNoFailureOfSparks() throws Exception {
    transport.thrown = new IllegalStateException("scripted");
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, A, B);
    listener.awaitAll();
    assertThat(listener.callbacks).containsExactly("success " + A, "success " + B);
    assertThat(counters().blocks(FallbackReason.TRANSFER_FAILED)).isEqualTo(2);
  }

  @Test
  void aShortageBeforeAnythingIsBegunLeavesAllToTheEngineOnce() {
    transport.shortage = new OutOfMemoryError("scripted");
    RecordingListener listener = new RecordingListener(3);
    fetch(listener, A, "shuffleChunk_1_0_3_0", B);
    assertThat(listener.callbacks)
        .containsExactly("success " + A, "success shuffleChunk_1_0_3_0", "success " + B);
    assertThat(transport.fetches).isEmpty();
    assertThat(counters().blocks(FallbackReason.NO_MEMORY)).isEqualTo(3);
  }

  @Test
  void aBlockThatCannotBeHandedOverForLackOfMemoryComesThroughTheEngine() throws Exception {
    RecordingListener listener = new RecordingListener(2);
    BlockRequest request = new BlockRequest("host", 7337, "4", new String[] {A, B}, listener, null);
    RdmaFetch rdma =
        new RdmaFetch(request, new FetchServices(runtime, engine, executor), new ShortOfMemory(B));
    TestBlock first = new TestBlock(CONTENT);
    TestBlock second = new TestBlock(CONTENT);
    rdma.onBlock(0, first);
    rdma.onBlock(1, second);
    listener.awaitAll();
    assertThat(listener.callbacks)
        .containsExactlyInAnyOrder("success " + A + " by RDMA", "success " + B);
    assertThat(second.closes).isEqualTo(1);
    assertThat(counters().blocks(FallbackReason.NO_MEMORY)).isEqualTo(1);
  }

  @Test
  void emptyBlockIsFetchedAgainThroughTheEngine() throws Exception {
    RecordingListener listener = new RecordingListener(1);
    fetch(listener, A);
    TestBlock empty = new TestBlock(new byte[0]);
    transport.fetches.get(0).listener().onBlock(0, empty);
    listener.awaitAll();
    assertThat(listener.callbacks).containsExactly("success " + A);
    assertThat(empty.closes).isEqualTo(1);
  }

  @Test
  void blockAskedForAgainAfterDeliveryWasCorruptAndComesThroughTheEngine() {
    RecordingListener listener = new RecordingListener(3);
    fetch(listener, A, B);
    transport.fetches.get(0).listener().onBlock(0, new TestBlock(CONTENT));
    fetch(listener, A);
    assertThat(listener.callbacks).containsExactly("success " + A + " by RDMA", "success " + A);
    assertThat(transport.fetches).hasSize(1);
    assertThat(counters().blocks(FallbackReason.CORRUPT_RETRY)).isEqualTo(1);
  }

  @Test
  void anotherReaderOfTheSameBlockIsNoCorruptRetry() {
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, A);
    transport.fetches.get(0).listener().onBlock(0, new TestBlock(CONTENT));
    client = new RdmaBlockStoreClient(new FetchServices(runtime, engine, executor));
    fetch(listener, A);
    assertThat(transport.fetches).hasSize(2);
    assertThat(engine.calls).isEmpty();
  }

  @Test
  void requestForFilesGoesToTheEngineWithItsFiles() {
    RecordingListener listener = new RecordingListener(1);
    client.fetchBlocks("host", 7337, "4", new String[] {A}, listener, new NoFiles());
    assertThat(engine.calls)
        .containsExactly(new ScriptedEngine.Call("host", 7337, "4", List.of(A), true));
    assertThat(engine.callers.get(0)).isEqualTo(Thread.currentThread());
    assertThat(counters().blocks(FallbackReason.TO_DISK)).isEqualTo(1);
    assertThat(transport.fetches).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"shuffle-push-merger", "fallback"})
  void peersThatAreNoExecutorsAreTheEngines(String executorId) {
    RecordingListener listener = new RecordingListener(1);
    client.fetchBlocks("host", 7337, executorId, new String[] {A}, listener, null);
    assertThat(transport.fetches).isEmpty();
    assertThat(counters().blocks(FallbackReason.NOT_SUPPORTED)).isEqualTo(1);
  }

  @Test
  void idsThatAreNoShuffleBlocksAreTheEnginesAndTheRestGoesByRdma() {
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, "shuffleChunk_1_0_3_0", A);
    assertThat(transport.fetches.get(0).keys()).containsExactly(new BlockKey(1, 10, 3, 4));
    transport.fetches.get(0).listener().onBlock(0, new TestBlock(CONTENT));
    assertThat(listener.callbacks)
        .containsExactly("success shuffleChunk_1_0_3_0", "success " + A + " by RDMA");
  }

  @Test
  void withoutRdmaTheEngineIsCalledAsSparkWouldCallIt() {
    runtime.close();
    open(Mode.OFF);
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, A, B);
    assertThat(listener.callbacks).containsExactly("success " + A, "success " + B);
    assertThat(engine.callers.get(0)).isEqualTo(Thread.currentThread());
    assertThat(counters().blocks(FallbackReason.NO_DEVICE)).isEqualTo(2);
    engine.thrownAfterFirst = new IllegalStateException("scripted");
    assertThatThrownBy(() -> fetch(new RecordingListener(2), A, B)).hasMessage("scripted");
  }

  @Test
  void fallbackOfAStoppingProcessIsStillReported() throws Exception {
    RecordingListener listener = new RecordingListener(2);
    fetch(listener, A, B);
    executor.close();
    transport.fetches.get(0).listener().onFallback(new int[] {0, 1}, FallbackReason.STOPPING);
    listener.awaitAll();
    assertThat(listener.callbacks).containsExactlyInAnyOrder("failure " + A, "failure " + B);
  }

  @Test
  void closingLeavesTheDelegateOpen() {
    client.close();
  }

  /** Takes all but one. */
  private static final class ShortOfMemory extends HashSet<String> {
    private static final long serialVersionUID = 1;
    private final String refused;

    ShortOfMemory(String refused) {
      this.refused = refused;
    }

    @Override
    public boolean add(String id) {
      if (id.equals(refused)) {
        throw new OutOfMemoryError("scripted");
      }
      return super.add(id);
    }
  }

  private static final class NoFiles implements DownloadFileManager {
    @Override
    public DownloadFile createTempFile(TransportConf conf) {
      throw new AssertionError();
    }

    @Override
    public boolean registerTempFileToClean(DownloadFile file) {
      throw new AssertionError();
    }
  }
}
