package io.rdmashuffle.spark;

import io.rdmashuffle.core.adapter.AdapterSetup;
import io.rdmashuffle.core.adapter.AdapterState.Outlook;
import io.rdmashuffle.spark.catalog.MapOutput;
import io.rdmashuffle.spark.catalog.MapOutputCatalog;
import io.rdmashuffle.spark.runtime.Availability;
import io.rdmashuffle.spark.runtime.InvitationCodec;
import io.rdmashuffle.spark.runtime.PeerExecutor;
import io.rdmashuffle.spark.runtime.RuntimeSnapshot;
import io.rdmashuffle.spark.runtime.ShuffleRuntime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.MapOutputTracker;
import org.apache.spark.MapSizesByExecutorId;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.shuffle.BaseShuffleHandle;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleHandle;
import org.apache.spark.shuffle.ShuffleReadMetricsReporter;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.shuffle.ShuffleWriteMetricsReporter;
import org.apache.spark.shuffle.ShuffleWriter;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.Iterator;

/**
 * Spark's sort shuffle with blocks fetched by RDMA; switched on by {@code
 * spark.shuffle.manager=io.rdmashuffle.spark.RdmaShuffleManager}.
 *
 * <p>Writers, files, and everything in the driver are the sort shuffle's own. It is a subclass
 * rather than another implementation of the interface because Spark SQL copies every row for
 * shuffle managers it does not know (ShuffleExchangeExec.needToCopyObjectsBeforeShuffle).
 *
 * <p><b>Threads:</b> any. <b>Life:</b> made by Spark, which also calls {@link #stop}; opens nothing
 * before the first task writes or reads.
 */
public final class RdmaShuffleManager extends SortShuffleManager {
  private static final Logger LOG = LoggerFactory.getLogger(RdmaShuffleManager.class);

  private final SparkSettings settings;
  private final RdmaBlockResolver resolver;
  private final PeerExecutor executor;
  private final ShuffleRuntime runtime;
  private final AtomicBoolean metricsRegistered = new AtomicBoolean();
  private final AtomicBoolean oddCommitLogged = new AtomicBoolean();

  /**
   * Called by Spark.
   *
   * @throws io.rdmashuffle.core.config.ConfigException if a setting is wrong, which stops the start
   */
  public RdmaShuffleManager(SparkConf conf, boolean isDriver) {
    super(RdmaShuffleDataIO.inject(conf));
    this.settings = SparkSettings.read(conf, isDriver);
    this.resolver =
        RdmaBlockResolver.create(
            conf, new RdmaBlockResolver.Hooks(this::encodedInvitation, this::onRemoved));
    this.executor = new PeerExecutor(settings.rdma().fallbackThreads());
    MapOutputCatalog catalog = new MapOutputCatalog(resolver);
    SparkSite site = new SparkSite(settings, catalog, executor);
    AdapterSetup adapter = new AdapterSetup(settings.adapters()::find, site, settings.transport());
    this.runtime =
        new ShuffleRuntime(
            settings.policy(), catalog, rules -> adapter.forPeer(rules, site::engine));
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    return resolver;
  }

  @Override
  public <K, V> ShuffleWriter<K, V> getWriter(
      ShuffleHandle handle, long mapId, TaskContext context, ShuffleWriteMetricsReporter metrics) {
    open();
    return super.getWriter(handle, mapId, context, metrics);
  }

  @Override
  public <K, C> ShuffleReader<K, C> getReader(
      ShuffleHandle handle,
      int startMapIndex,
      int endMapIndex,
      int startPartition,
      int endPartition,
      TaskContext context,
      ShuffleReadMetricsReporter metrics) {
    open();
    if (settings.switchedOff()) {
      return super.getReader(
          handle, startMapIndex, endMapIndex, startPartition, endPartition, context, metrics);
    }
    @SuppressWarnings("unchecked") // the handle that registerShuffle has returned
    BaseShuffleHandle<K, ?, C> ours = (BaseShuffleHandle<K, ?, C>) handle;
    SparkEnv env = SparkHost.env();
    MapOutputTracker tracker = env.mapOutputTracker();
    Iterator<?> blocks;
    boolean batchAllowed =
        SortShuffleManager.canUseBatchFetch(startPartition, endPartition, context);
    if (ours.dependency().isShuffleMergeFinalizedMarked()) {
      MapSizesByExecutorId merged =
          tracker.getPushBasedShuffleMapSizesByExecutorId(
              ours.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition);
      blocks = merged.iter();
      batchAllowed &= merged.enableBatchFetch();
    } else {
      blocks =
          tracker.getMapSizesByExecutorId(
              ours.shuffleId(), startMapIndex, endMapIndex, startPartition, endPartition);
    }
    FetchServices services =
        new FetchServices(runtime, env.blockManager().blockStoreClient(), executor);
    return new RdmaShuffleReader<>(
        new ReadRequest<>(ours, blocks, context, metrics, batchAllowed),
        env,
        new RdmaBlockStoreClient(services));
  }

  /** Before the first write or read of this process; fails the task if RDMA is required. */
  private void open() {
    Availability now = runtime.open();
    boolean decided = !(now instanceof Availability.Absent a) || a.outlook() == Outlook.NEVER;
    if (decided && metricsRegistered.compareAndSet(false, true)) {
      SparkHost.env().metricsSystem().registerSource(new RdmaMetricsSource(runtime));
    }
  }

  /**
   * A writer of this process has committed. Whatever is odd here costs RDMA for this output, never
   * the task: a peer's request then looks at the index file, and at worst Spark's shuffle serves
   * it.
   */
  void onCommit(int shuffleId, long mapId, long[] lengths) {
    Path file = resolver.getDataFile(shuffleId, mapId).toPath();
    try {
      MapOutput output = MapOutput.ofLengths(file, lengths);
      if (output.file().bytes() == 0) {
        return; // no file, and nobody asks for empty blocks
      }
      if (Files.size(file) == output.file().bytes()) {
        runtime.register(shuffleId, mapId, output);
      } else {
        logOddCommit(file + " has " + Files.size(file) + " bytes, not " + output.file().bytes());
      }
    } catch (IOException | RuntimeException e) {
      logOddCommit(e.toString());
    }
  }

  private void logOddCommit(String what) {
    if (oddCommitLogged.compareAndSet(false, true)) {
      LOG.warn("map outputs are not where Spark's local disk shuffle puts them: {}", what);
    }
  }

  private byte[] encodedInvitation() {
    return InvitationCodec.encode(runtime.invitation());
  }

  private void onRemoved(int shuffleId, long mapId) {
    runtime.remove(shuffleId, mapId);
  }

  @Override
  public boolean unregisterShuffle(int shuffleId) {
    resolver.removeMigrated(shuffleId);
    boolean unregistered = super.unregisterShuffle(shuffleId);
    runtime.removeGroup(shuffleId);
    return unregistered;
  }

  RuntimeSnapshot snapshot() {
    return runtime.snapshot();
  }

  /** Closes connections, deregisters memory and ends every thread, within seconds. */
  @Override
  public void stop() {
    runtime.close();
    executor.close();
    super.stop();
  }
}
