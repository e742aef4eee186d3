package io.rdmashuffle.spark;

import java.util.Optional;
import org.apache.spark.SparkEnv;
import org.apache.spark.shuffle.ShuffleManager;

/** The one place that asks Spark for what belongs to the process rather than to a caller. */
final class SparkHost {
  private SparkHost() {}

  /** Complete once a task runs; null while Spark 3.5 makes its shuffle manager. */
  static SparkEnv env() {
    return SparkEnv.get();
  }

  /** The shuffle manager of this process, if it is ours. */
  static Optional<RdmaShuffleManager> manager() {
    SparkEnv env = env();
    ShuffleManager manager = env == null ? null : env.shuffleManager();
    return manager instanceof RdmaShuffleManager ours ? Optional.of(ours) : Optional.empty();
  }
}
