package io.rdmashuffle.spark.catalog;

import io.rdmashuffle.transport.server.BlockCatalog;
import io.rdmashuffle.transport.server.BlockLocation;
import io.rdmashuffle.transport.server.OutputFile;
import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The map outputs of this process, by group (shuffle) and output (map id). Serves one application:
 * the scope of a request is not looked at.
 *
 * <p><b>Threads:</b> any. Lookups take no lock and never block. Nothing to close; files that leave
 * the catalog are returned, and the caller tells the block server to forget them.
 *
 * <p>Outputs that nobody registered (migrated from another executor, say) are found by the {@link
 * Loader}. It may lose a race against the removal of the same output, so whoever removes one
 * deletes its files first: an output loaded after that is dropped again.
 */
public final class MapOutputCatalog implements BlockCatalog {
  private final Map<Integer, Map<Long, MapOutput>> groups = new ConcurrentHashMap<>();
  private final Loader loader;

  public MapOutputCatalog(Loader loader) {
    this.loader = loader;
  }

  /**
   * Makes an output known, as soon as it is committed.
   *
   * @return the file of an earlier output under the same name, which the block server must forget
   */
  public Optional<OutputFile> register(int group, long output, MapOutput mapOutput) {
    MapOutput[] earlier = new MapOutput[1];
    groups.compute(
        group,
        (id, known) -> {
          Map<Long, MapOutput> outputs = known == null ? new ConcurrentHashMap<>() : known;
          earlier[0] = outputs.put(output, mapOutput);
          return outputs;
        });
    return Optional.ofNullable(earlier[0]).map(MapOutput::file);
  }

  /** Forgets one output, after its files were deleted. */
  public Optional<OutputFile> remove(int group, long output) {
    MapOutput[] removed = new MapOutput[1];
    groups.computeIfPresent(
        group,
        (id, outputs) -> {
          removed[0] = outputs.remove(output);
          return outputs.isEmpty() ? null : outputs;
        });
    return Optional.ofNullable(removed[0]).map(MapOutput::file);
  }

  /** Forgets every output of a group, after their files were deleted. */
  public Collection<OutputFile> removeGroup(int group) {
    Map<Long, MapOutput> outputs = groups.remove(group);
    return outputs == null ? List.of() : outputs.values().stream().map(MapOutput::file).toList();
  }

  /** Number of outputs known; for metrics. */
  public int outputs() {
    return groups.values().stream().mapToInt(Map::size).sum();
  }

  @Override
  public BlockLocation find(long scope, BlockKey key) {
    Map<Long, MapOutput> outputs = groups.get(key.group());
    MapOutput output = outputs == null ? null : outputs.get(key.output());
    return output == null ? null : output.locate(key.firstPartition(), key.endPartition());
  }

  @Override
  public BlockLocation load(long scope, BlockKey key) throws IOException {
    BlockLocation known = find(scope, key);
    if (known != null) {
      return known;
    }
    MapOutput loaded = loader.load(key.group(), key.output());
    if (loaded == null) {
      return null;
    }
    MapOutput kept = keep(key, loaded);
    if (loaded.file().bytes() > 0 && !Files.exists(loaded.file().path())) {
      remove(key.group(), key.output());
      return null;
    }
    return kept.locate(key.firstPartition(), key.endPartition());
  }

  /** Of several loaders of one output, or a loader and a commit, the first wins. */
  private MapOutput keep(BlockKey key, MapOutput loaded) {
    return groups
        .compute(
            key.group(),
            (id, known) -> {
              Map<Long, MapOutput> outputs = known == null ? new ConcurrentHashMap<>() : known;
              outputs.putIfAbsent(key.output(), loaded);
              return outputs;
            })
        .getOrDefault(key.output(), loaded);
  }

  /** Finds an output on disk. */
  @FunctionalInterface
  public interface Loader {
    /**
     * Called on the slow pool; may block.
     *
     * @return null if there is no such output
     * @throws IOException if its index cannot be read or contradicts its data
     */
    MapOutput load(int group, long output) throws IOException;
  }
}
