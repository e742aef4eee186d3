package io.rdmashuffle.spark.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.AdapterHost;
import io.rdmashuffle.core.adapter.AdapterSetup;
import io.rdmashuffle.core.adapter.DeviceSpec;
import io.rdmashuffle.core.config.ConfigReader;
import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.core.config.RdmaSettings;
import io.rdmashuffle.spark.catalog.MapOutput;
import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import io.rdmashuffle.transport.Counter;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.RdmaTransport;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.client.Block;
import io.rdmashuffle.transport.client.BlockClient;
import io.rdmashuffle.transport.client.Discovery;
import io.rdmashuffle.transport.client.Discovery.Invitation;
import io.rdmashuffle.transport.client.Peer;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.OverflowLimit;
import io.rdmashuffle.transport.testing.SoftAdapter;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two runtimes, as in two processes, on the software adapter. */
final class SoftDeviceTest {
  private static final long SEED = 20261129;
  private static final int SHUFFLE = 1;
  private static final int MAP = 10;

  @TempDir Path folder;

  @BeforeEach
  void needsTheLibraries() {
    SoftAdapter.require();
  }

  private ShuffleRuntime runtime(String name, Map<String, String> values, Discovery discovery) {
    ConfigReader config = new ConfigReader("rdma.", key -> values.get(key.substring(5)));
    RdmaSettings settings = RdmaSettings.from(config);
    MapOutputCatalog catalog = new MapOutputCatalog((group, output) -> null);
    TransportSettings transport =
        new TransportSettings(
            settings.channel(),
            settings.server(),
            settings.client(),
            new MemoryBudget.Bound(128L << 20, "the test's", "raise it"),
            OverflowLimit.STANDALONE);
    AdapterFinder finder = new AdapterFinder(DeviceSpec.of(settings, config));
    return new ShuffleRuntime(
        new FallbackPolicy(Mode.REQUIRED, "rdma.mode", Optional.empty()),
        catalog,
        rules ->
            new AdapterSetup(finder::find, new Host(name), transport)
                .forPeer(rules, () -> new RdmaTransport.Engine(catalog, discovery)));
  }

  private record Host(String processName) implements AdapterHost {
    @Override
    public InetAddress address() {
      return InetAddress.getLoopbackAddress();
    }
  }

  @Test
  void blocksOfOneRuntimeAreReadByAnother() throws Exception {
    long[] lengths = {100, 0, 70_000, 3_000_000, 1};
    byte[] content = new byte[(int) Arrays.stream(lengths).sum()];
    new Random(SEED).nextBytes(content);
    Path data = Files.write(folder.resolve("shuffle_1_10_0.data"), content);
    Map<String, String> soft = Map.of("device", "soft", "bind.address", "127.0.0.0/8");
    try (ShuffleRuntime owner = runtime("owner", soft, peer -> failed());
        ShuffleRuntime reader = runtime("reader", soft, peer -> asked(owner))) {
      owner.open();
      owner.register(SHUFFLE, MAP, MapOutput.ofLengths(data, lengths));
      BlockClient client = ((Availability.Open) reader.open()).transport().client();
      List<BlockKey> keys =
          List.of(key(0, 1), key(2, 3), key(3, 4), key(4, 5), key(2, 5), key(5, 6));

      Fetched fetched = new Fetched(keys.size());
      client.fetch(new Peer("owner", "127.0.0.1", 1), keys, fetched);
      fetched.await();

      assertThat(fetched.blocks[0]).isEqualTo(Arrays.copyOfRange(content, 0, 100));
      assertThat(fetched.blocks[1]).isEqualTo(Arrays.copyOfRange(content, 100, 70_100));
      assertThat(fetched.blocks[2]).isEqualTo(Arrays.copyOfRange(content, 70_100, 3_070_100));
      assertThat(fetched.blocks[3]).isEqualTo(Arrays.copyOfRange(content, 3_070_100, 3_070_101));
      assertThat(fetched.blocks[4]).isEqualTo(Arrays.copyOfRange(content, 100, 3_070_101));
      assertThat(fetched.reasons[5]).isEqualTo(FallbackReason.UNKNOWN_BLOCK);
      RuntimeSnapshot snapshot = reader.snapshot();
      assertThat(snapshot.device()).contains("soft0").contains("127.");
      assertThat(snapshot.counters().get(Counter.BLOCKS_READ.label())).isPositive();
    }
    assertThat(threadsOfOurs()).isEmpty();
  }

  @Test
  void adapterThatIsNotThereIsNamed() {
    try (ShuffleRuntime runtime = runtime("p", Map.of("device", "mlx9_7"), peer -> failed())) {
      assertThatThrownBy(runtime::open)
          .isInstanceOf(RdmaRequiredException.class)
          .hasMessageContaining("rdma.mode=required");
    }
  }

  @Test
  void networkWithoutAnAddressOfThisHostIsNamed() {
    Map<String, String> elsewhere = Map.of("device", "soft", "bind.address", "203.0.113.0/24");
    try (ShuffleRuntime runtime = runtime("p", elsewhere, peer -> failed())) {
      assertThatThrownBy(runtime::open)
          .hasMessageContaining("rdma.bind.address=203.0.113.0/24")
          .hasMessageContaining("127.0.0.1");
    }
  }

  private static BlockKey key(int first, int end) {
    return new BlockKey(SHUFFLE, MAP, first, end);
  }

  private static CompletableFuture<Invitation> failed() {
    return CompletableFuture.failedFuture(new IOException("nobody is to be asked"));
  }

  /** Through the bytes that would cross the network. */
  private static CompletableFuture<Invitation> asked(ShuffleRuntime owner) {
    try {
      return CompletableFuture.completedFuture(
          InvitationCodec.decode(ByteBuffer.wrap(InvitationCodec.encode(owner.invitation()))));
    } catch (IOException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static List<String> threadsOfOurs() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.contains("owner") || name.contains("reader"))
        .toList();
  }

  private static final class Fetched implements BlockClient.FetchListener {
    final byte[][] blocks;
    final FallbackReason[] reasons;
    private final CountDownLatch missing;

    Fetched(int count) {
      blocks = new byte[count][];
      reasons = new FallbackReason[count];
      missing = new CountDownLatch(count);
    }

    @Override
    public void onBlock(int index, Block block) {
      try (block) {
        blocks[index] = block.stream().readAllBytes();
        missing.countDown();
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void onFallback(int[] indices, FallbackReason reason) {
      IntStream.of(indices)
          .forEach(
              index -> {
                reasons[index] = reason;
                missing.countDown();
              });
    }

    void await() throws InterruptedException {
      assertThat(missing.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(reasons).startsWith(null, null, null, null, null);
    }
  }
}
