package io.rdmashuffle.spark;

import com.codahale.metrics.MetricSet;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockPushingListener;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.network.shuffle.MergeFinalizerListener;
import org.apache.spark.network.shuffle.MergedBlocksMetaListener;
import org.apache.spark.network.shuffle.checksum.Cause;

/**
 * Passes everything but the fetching of blocks to the client that Spark would have used. Every
 * method is overridden, as the base class works on fields that only Spark fills.
 *
 * <p>{@link #close} does nothing: the delegate belongs to Spark's block manager.
 */
abstract class DelegatingBlockStoreClient extends BlockStoreClient {
  private final BlockStoreClient delegate;

  DelegatingBlockStoreClient(BlockStoreClient delegate) {
    this.delegate = delegate;
  }

  @Override
  public final Cause diagnoseCorruption(
      String host,
      int port,
      String executorId,
      int shuffleId,
      long mapId,
      int reduceId,
      long checksum,
      String algorithm) {
    return delegate.diagnoseCorruption(
        host, port, executorId, shuffleId, mapId, reduceId, checksum, algorithm);
  }

  @Override
  public final MetricSet shuffleMetrics() {
    return delegate.shuffleMetrics();
  }

  @Override
  public final void setAppAttemptId(String appAttemptId) {
    delegate.setAppAttemptId(appAttemptId);
  }

  @Override
  public final String getAppAttemptId() {
    return delegate.getAppAttemptId();
  }

  @Override
  public final void getHostLocalDirs(
      String host,
      int port,
      String[] executorIds,
      CompletableFuture<Map<String, String[]>> hostLocalDirs) {
    delegate.getHostLocalDirs(host, port, executorIds, hostLocalDirs);
  }

  @Override
  public final void pushBlocks(
      String host,
      int port,
      String[] blockIds,
      ManagedBuffer[] buffers,
      BlockPushingListener listener) {
    delegate.pushBlocks(host, port, blockIds, buffers, listener);
  }

  @Override
  public final void finalizeShuffleMerge(
      String host, int port, int shuffleId, int shuffleMergeId, MergeFinalizerListener listener) {
    delegate.finalizeShuffleMerge(host, port, shuffleId, shuffleMergeId, listener);
  }

  @Override
  public final void getMergedBlockMeta(
      String host,
      int port,
      int shuffleId,
      int shuffleMergeId,
      int reduceId,
      MergedBlocksMetaListener listener) {
    delegate.getMergedBlockMeta(host, port, shuffleId, shuffleMergeId, reduceId, listener);
  }

  @Override
  public final boolean removeShuffleMerge(
      String host, int port, int shuffleId, int shuffleMergeId) {
    return delegate.removeShuffleMerge(host, port, shuffleId, shuffleMergeId);
  }

  @Override
  public final void close() {}
}
