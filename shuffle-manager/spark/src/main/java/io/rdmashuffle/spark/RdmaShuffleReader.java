package io.rdmashuffle.spark;

import java.io.InputStream;
import org.apache.spark.Aggregator;
import org.apache.spark.InterruptibleIterator;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.ShuffleReader;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.CompletionIterator;
import org.apache.spark.util.SystemClock;
import scala.Function0;
import scala.Function2;
import scala.Product2;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.runtime.BoxedUnit;

/**
 * Reads partitions of a shuffle as Spark's BlockStoreShuffleReader does, step by step, with our
 * client: limits, checksums, retries of corrupt blocks, local and host-local blocks and push-merged
 * chunks are those of Spark's ShuffleBlockFetcherIterator.
 *
 * <p><b>Threads:</b> the task's.
 */
final class RdmaShuffleReader<K, C> implements ShuffleReader<K, C> {
  private final ReadRequest<K, C> request;
  private final SparkEnv env;
  private final BlockStoreClient client;

  RdmaShuffleReader(ReadRequest<K, C> request, SparkEnv env, BlockStoreClient client) {
    this.request = request;
    this.env = env;
    this.client = client;
  }

  /** The types are those that the handle promises; inside Spark they are erased. */
  @Override
  @SuppressWarnings({"unchecked", "rawtypes"})
  public Iterator<Product2<K, C>> read() {
    TaskContext context = request.context();
    ShuffleDependency<K, ?, C> dependency = request.handle().dependency();
    RecordIterator records =
        new RecordIterator(fetchBlocks(), dependency.serializer().newInstance(), request.metrics());
    Function0<BoxedUnit> onEnd =
        () -> {
          context.taskMetrics().mergeShuffleReadMetrics();
          return BoxedUnit.UNIT;
        };
    Iterator pairs =
        new InterruptibleIterator(context, (Iterator) CompletionIterator.apply(records, onEnd));
    pairs = sort(aggregate(pairs, dependency), dependency);
    return pairs instanceof InterruptibleIterator
        ? pairs
        : new InterruptibleIterator(context, pairs);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private Iterator aggregate(Iterator pairs, ShuffleDependency<K, ?, C> dependency) {
    if (!dependency.aggregator().isDefined()) {
      return pairs;
    }
    Aggregator aggregator = (Aggregator) dependency.aggregator().get();
    return dependency.mapSideCombine()
        ? aggregator.combineCombinersByKey(pairs, request.context())
        : aggregator.combineValuesByKey(pairs, request.context());
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private Iterator sort(Iterator pairs, ShuffleDependency<K, ?, C> dependency) {
    return dependency.keyOrdering().isDefined()
        ? ExternalSorters.byKey(dependency, request.context()).insertAllAndUpdateMetrics(pairs)
        : pairs;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private Iterator<Tuple2<BlockId, InputStream>> fetchBlocks() {
    SparkConfEntries conf = new SparkConfEntries(env.conf());
    Function2<BlockId, InputStream, InputStream> decode = env.serializerManager()::wrapStream;
    return new ShuffleBlockFetcherIterator(
            request.context(),
            client,
            env.blockManager(),
            env.mapOutputTracker(),
            (Iterator) request.blocks(),
            decode,
            conf.maxBytesInFlight(),
            conf.maxRequestsInFlight(),
            conf.maxBlocksInFlightPerAddress(),
            conf.maxBytesInMemory(),
            conf.maxAttemptsOnNettyOutOfMemory(),
            conf.detectCorruption(),
            conf.detectCorruptionInMemory(),
            conf.checksums(),
            conf.checksumAlgorithm(),
            request.metrics(),
            batchFetch(conf),
            new SystemClock())
        .toCompletionIterator();
  }

  private boolean batchFetch(SparkConfEntries conf) {
    return request.batchAllowed()
        && request.handle().dependency().serializer().supportsRelocationOfSerializedObjects()
        && conf.blocksCanBeJoined();
  }
}
