package io.rdmashuffle.spark.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MapOutputCatalogTest {
  @TempDir Path folder;

  private final MapOutputCatalog catalog = new MapOutputCatalog((group, output) -> null);

  private static BlockKey key(long output, int first, int end) {
    return new BlockKey(3, output, first, end);
  }

  private MapOutput output(String name, long... lengths) {
    return MapOutput.ofLengths(folder.resolve(name), lengths);
  }

  @Test
  void singleBlocksAndRangesAreFound() {
    MapOutput output = output("a", 5, 0, 7, 11);
    assertThat(catalog.register(3, 40, output)).isEmpty();
    assertThat(catalog.find(0, key(40, 0, 1))).isEqualTo(at(output, 0, 5));
    assertThat(catalog.find(0, key(40, 1, 2))).isEqualTo(at(output, 5, 0));
    assertThat(catalog.find(0, key(40, 3, 4))).isEqualTo(at(output, 12, 11));
    assertThat(catalog.find(0, key(40, 1, 4))).isEqualTo(at(output, 5, 18));
  }

  @Test
  void offsetsBeyondFourGibibytesAreExact() {
    MapOutput output = output("a", 3L << 30, 3L << 30, 1);
    catalog.register(3, 40, output);
    assertThat(catalog.find(0, key(40, 2, 3))).isEqualTo(at(output, 6L << 30, 1));
  }

  @Test
  void offsetsUpToFourGibibytesAreExact() {
    MapOutput output = output("a", 3L << 30, (1L << 30) - 1);
    catalog.register(3, 40, output);
    assertThat(catalog.find(0, key(40, 1, 2))).isEqualTo(at(output, 3L << 30, (1L << 30) - 1));
  }

  @Test
  void unknownBlocksAreNotFound() throws IOException {
    catalog.register(3, 40, output("a", 5));
    assertThat(catalog.find(0, key(40, 0, 2))).isNull();
    assertThat(catalog.find(0, key(41, 0, 1))).isNull();
    assertThat(catalog.find(0, new BlockKey(4, 40, 0, 1))).isNull();
    assertThat(catalog.load(0, key(41, 0, 1))).isNull();
  }

  @Test
  void removedOutputsAreNotFoundAndTheirFilesAreReturned() {
    MapOutput first = output("a", 5);
    MapOutput second = output("b", 5);
    catalog.register(3, 40, first);
    catalog.register(3, 41, second);
    assertThat(catalog.remove(3, 40)).contains(first.file());
    assertThat(catalog.remove(3, 40)).isEmpty();
    assertThat(catalog.find(0, key(40, 0, 1))).isNull();
    assertThat(catalog.removeGroup(3)).containsExactly(second.file());
    assertThat(catalog.removeGroup(3)).isEmpty();
    assertThat(catalog.outputs()).isZero();
  }

  @Test
  void committingAgainReturnsTheEarlierFile() {
    MapOutput first = output("a", 5);
    catalog.register(3, 40, first);
    MapOutput second = output("a", 6);
    assertThat(catalog.register(3, 40, second)).isEqualTo(Optional.of(first.file()));
    assertThat(catalog.find(0, key(40, 0, 1))).isEqualTo(at(second, 0, 6));
  }

  @Test
  void unregisteredOutputsAreLoadedOnce() throws IOException {
    AtomicInteger loads = new AtomicInteger();
    Files.write(folder.resolve("data"), new byte[12]);
    MapOutputCatalog loading =
        new MapOutputCatalog(
            (group, output) -> {
              loads.incrementAndGet();
              return output("data", 5, 7);
            });
    BlockLocation found = loading.load(0, key(40, 1, 2));
    assertThat(found.offsetBytes()).isEqualTo(5);
    assertThat(loading.find(0, key(40, 1, 2))).isEqualTo(found);
    assertThat(loading.load(0, key(40, 1, 2))).isEqualTo(found);
    assertThat(loads).hasValue(1);
  }

  @Test
  void outputRemovedWhileItIsLoadedIsDroppedAgain() throws IOException {
    Path data = Files.write(folder.resolve("data"), new byte[12]);
    MapOutputCatalog loading =
        new MapOutputCatalog(
            (group, output) -> {
              Files.delete(data); // as removal does, before it tells the catalog
              return output("data", 5, 7);
            });
    assertThat(loading.load(0, key(40, 1, 2))).isNull();
    assertThat(loading.outputs()).isZero();
  }

  private static BlockLocation at(MapOutput output, long offset, long bytes) {
    return new BlockLocation(output.file(), offset, bytes);
  }
}
