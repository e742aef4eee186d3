package io.rdmashuffle.spark;

import java.io.File;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.shuffle.api.ShuffleExecutorComponents;
import org.apache.spark.shuffle.api.ShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.ShufflePartitionWriter;
import org.apache.spark.shuffle.api.SingleSpillShuffleMapOutputWriter;
import org.apache.spark.shuffle.api.metadata.MapOutputCommitMessage;

/**
 * Executor components that tell a listener of each commit, after it succeeded. The lengths are then
 * final: if an earlier attempt of the task has won, Spark has replaced them by that one's.
 */
final class CommitTap implements ShuffleExecutorComponents {
  private final ShuffleExecutorComponents wrapped;
  private final CommitListener listener;

  CommitTap(ShuffleExecutorComponents wrapped, CommitListener listener) {
    this.wrapped = wrapped;
    this.listener = listener;
  }

  @Override
  public void initializeExecutor(String appId, String executorId, Map<String, String> extra) {
    wrapped.initializeExecutor(appId, executorId, extra);
  }

  @Override
  public ShuffleMapOutputWriter createMapOutputWriter(int shuffleId, long mapId, int partitions)
      throws IOException {
    ShuffleMapOutputWriter writer = wrapped.createMapOutputWriter(shuffleId, mapId, partitions);
    return new ShuffleMapOutputWriter() {
      @Override
      public ShufflePartitionWriter getPartitionWriter(int partition) throws IOException {
        return writer.getPartitionWriter(partition);
      }

      @Override
      public MapOutputCommitMessage commitAllPartitions(long[] checksums) throws IOException {
        MapOutputCommitMessage message = writer.commitAllPartitions(checksums);
        listener.onCommit(shuffleId, mapId, message.getPartitionLengths());
        return message;
      }

      @Override
      public void abort(Throwable cause) throws IOException {
        writer.abort(cause);
      }
    };
  }

  @Override
  public Optional<SingleSpillShuffleMapOutputWriter> createSingleFileMapOutputWriter(
      int shuffleId, long mapId) throws IOException {
    return wrapped
        .createSingleFileMapOutputWriter(shuffleId, mapId)
        .map(
            writer ->
                (File spill, long[] lengths, long[] checksums) -> {
                  writer.transferMapSpillFile(spill, lengths, checksums);
                  listener.onCommit(shuffleId, mapId, lengths);
                });
  }
}
