package io.rdmashuffle.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.channel.ChannelSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.verbs.VerbsProvider;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Far more map outputs than may be registered: the bytes are right, and nobody thrashes. */
abstract class ScarceMemoryContract extends TransportHarness {
  private static final int MAPS = 120;
  private static final long WORKING_SET_BYTES = 96L << 20;

  /** Libraries of one more process that may register no more than that. */
  protected abstract VerbsProvider provider(long memlockBytes) throws Exception;

  private TransportSettings bounded(long bytes) {
    return TransportSettings.defaults(
        new MemoryBudget.Bound(bytes, "a share of the working set", "none"));
  }

  /** One list per map, of blocks of the same size. */
  private List<List<BlockKey>> write(Process owner, int blockBytes) throws Exception {
    int[] blocks = new int[(int) (WORKING_SET_BYTES / MAPS / blockBytes)];
    Arrays.fill(blocks, blockBytes);
    List<List<BlockKey>> maps = new ArrayList<>();
    for (int i = 0; i < MAPS; i++) {
      maps.add(owner.outputs.write(blocks));
    }
    return maps;
  }

  /** As reduce tasks do: the same partition of every map, one partition after the other. */
  private static int reduce(Process reader, Process owner, List<List<BlockKey>> maps)
      throws Exception {
    int arrived = 0;
    for (int partition = 0; partition < maps.get(0).size(); partition++) {
      int wanted = partition;
      List<BlockKey> wave = maps.stream().map(map -> map.get(wanted)).toList();
      arrived += reader.fetch(owner, wave).await().checkWhatCame(owner.outputs).arrived();
    }
    return arrived;
  }

  @ParameterizedTest(name = "{0} % of the working set, blocks of {1} bytes")
  // One percent is less than what five blocks of 200 KB take: some may have to wait too long.
  @CsvSource({"1, 8192, 98", "1, 200000, 60", "10, 8192, 98", "10, 200000, 90"})
  final void aShareOfTheWorkingSetIsEnoughAndRegistrationsAreFew(
      int percent, int blockBytes, int arrivingPercent) throws Exception {
    Process owner = new Process("owner", bounded(WORKING_SET_BYTES * percent / 100));
    Process reader = process("reader");
    List<List<BlockKey>> maps = write(owner, blockBytes);
    int blocks = MAPS * maps.get(0).size();

    int arrived = reduce(reader, owner, maps);

    long registrations = owner.transport.counters().value(Counter.REGISTRATIONS);
    double perGigabyte = registrations / (WORKING_SET_BYTES / 1e9);
    System.out.printf(
        "%d %% of the working set, %d-byte blocks: %d of %d by RDMA, %.0f registrations per GB%n",
        percent, blockBytes, arrived, blocks, perGigabyte);
    assertThat(arrived).isGreaterThanOrEqualTo(blocks * arrivingPercent / 100);
    assertThat(registrations)
        .as("registrations, far fewer than blocks, each of which is read once")
        .isLessThanOrEqualTo(blockBytes < 64_000 ? blocks / 50 : blocks / 2);
  }

  @ParameterizedTest(name = "memlock of {0} bytes")
  @ValueSource(longs = {800_000, 1 << 20, 64 << 20})
  final void anyMemlockCostsSpeedAtMost(long memlockBytes) throws Exception {
    Process owner = new Process("owner", provider(memlockBytes), bounded(1L << 30));
    Process reader = new Process("reader", provider(memlockBytes), bounded(1L << 30));
    int[] sizes = {0, 1, 500, 8_192, 70_000, 200_000, 3_000_000, 9_000};
    int arrived = 0;
    int asked = 0;
    for (int i = 0; i < 10; i++) {
      List<BlockKey> keys = owner.outputs.write(sizes);
      arrived += reader.fetch(owner, keys).await().checkWhatCame(owner.outputs).arrived();
      asked += keys.size();
      assertThat(owner.registeredBytes()).isLessThanOrEqualTo(memlockBytes);
      assertThat(reader.registeredBytes()).isLessThanOrEqualTo(memlockBytes);
    }
    System.out.printf("memlock %d: %d of %d by RDMA%n", memlockBytes, arrived, asked);
    if (memlockBytes >= 64 << 20) {
      assertThat(arrived).isEqualTo(asked);
    }
  }

  @Test
  final void aMemlockThatHoldsNoConnectionIsToldAtOpening() {
    assertThatThrownBy(() -> new Process("owner", provider(64 << 10), bounded(1L << 30)))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONFIG))
        .hasMessageContaining("memlock limit of 64 KiB");
  }

  /** Fewer frames per connection, as whoever has next to no memory would set it. */
  @Test
  final void oneMebibyteIsEnoughForSmallBlocks() throws Exception {
    ChannelSettings d = ChannelSettings.defaults();
    ChannelSettings narrow =
        new ChannelSettings(
            2,
            16,
            8,
            d.connectTimeout(),
            d.requestTimeout(),
            d.keepAlive(),
            d.idleTimeout(),
            d.spin());
    TransportSettings tiny = bounded(1 << 20);
    TransportSettings settings =
        new TransportSettings(narrow, tiny.server(), tiny.client(), tiny.memory(), tiny.overflow());
    Process owner = new Process("owner", settings);
    Process reader = new Process("reader", settings);
    int[] sizes = new int[400];
    Arrays.fill(sizes, 8_192);
    List<BlockKey> keys = owner.outputs.write(sizes);

    assertThat(reader.fetch(owner, keys).await().check(owner.outputs).arrived()).isEqualTo(400);
  }
}
