package io.rdmashuffle.spark;

import io.rdmashuffle.spark.catalog.IndexFile;
import io.rdmashuffle.spark.catalog.MapOutput;
import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.util.collection.OpenHashSet;
import scala.Option;
import scala.collection.Iterator;

/**
 * Spark's resolver, which also answers how this process is reached by RDMA, and says when a map
 * output is gone.
 *
 * <p><b>Threads:</b> any. Invitations are asked for on Netty's server threads and come out of a
 * table: nothing is opened or registered there.
 */
final class RdmaBlockResolver extends IndexShuffleBlockResolver implements MapOutputCatalog.Loader {
  private final ConcurrentMap<Object, OpenHashSet<Object>> migrated = new ConcurrentHashMap<>();
  private final Hooks hooks;

  /** The super constructor of Spark 3.5.0, 3.5.1 and 4.x. */
  private RdmaBlockResolver(SparkConf conf, Hooks hooks) {
    super(conf, (BlockManager) null);
    this.hooks = hooks;
  }

  /** The only one of Spark 3.5.2 and later 3.5.x, which 4.0 still has. */
  private RdmaBlockResolver(
      SparkConf conf, Hooks hooks, ConcurrentMap<Object, OpenHashSet<Object>> unused) {
    super(conf, null, unused);
    this.hooks = hooks;
  }

  static RdmaBlockResolver create(SparkConf conf, Hooks hooks) {
    try {
      var unused =
          IndexShuffleBlockResolver.class.getConstructor(SparkConf.class, BlockManager.class);
      return new RdmaBlockResolver(conf, hooks);
    } catch (NoSuchMethodException e) {
      return new RdmaBlockResolver(conf, hooks, new ConcurrentHashMap<>());
    }
  }

  /**
   * Where Spark notes the outputs that other executors migrated to this one. Spark 3.5.2 to 4.0
   * declare a Map and 4.1 a ConcurrentMap: compiled against 4.0, this overrides both.
   */
  @Override
  public ConcurrentMap<Object, OpenHashSet<Object>> taskIdMapsForShuffle() {
    return migrated;
  }

  @Override
  public ManagedBuffer getBlockData(BlockId id, Option<String[]> directories) {
    return BlockNames.asksForInvitation(id)
        ? new NioManagedBuffer(ByteBuffer.wrap(hooks.invitation().get()))
        : super.getBlockData(id, directories);
  }

  /** Deletes the files first: the catalog relies on it (see {@link MapOutputCatalog}). */
  @Override
  public void removeDataByMap(int shuffleId, long mapId) {
    super.removeDataByMap(shuffleId, mapId);
    hooks.onRemoved().removed(shuffleId, mapId);
  }

  /** Removes what was migrated here; Spark's manager removes what was written here. */
  void removeMigrated(int shuffleId) {
    OpenHashSet<Object> mapIds = migrated.remove(shuffleId);
    if (mapIds == null) {
      return;
    }
    synchronized (mapIds) { // as Spark does where it adds to the set
      Iterator<Object> ids = mapIds.iterator();
      while (ids.hasNext()) {
        removeDataByMap(shuffleId, (Long) ids.next());
      }
    }
  }

  /** Finds an output that was not committed through this process's writers: a migrated one. */
  @Override
  public MapOutput load(int group, long output) throws IOException {
    return IndexFile.read(
        getIndexFile(group, output, Option.empty()).toPath(), getDataFile(group, output).toPath());
  }

  /**
   * What the resolver calls.
   *
   * @param invitation the bytes to answer discovery with; never waits
   * @param onRemoved hears of outputs whose files were deleted
   */
  record Hooks(Supplier<byte[]> invitation, RemovalListener onRemoved) {}

  /** Hears of removed map outputs. */
  @FunctionalInterface
  interface RemovalListener {
    void removed(int shuffleId, long mapId);
  }
}
