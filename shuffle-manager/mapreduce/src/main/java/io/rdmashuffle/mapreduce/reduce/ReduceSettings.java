package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.core.config.ConfigException;
import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.transport.client.ClientSettings;
import java.time.Duration;
import org.apache.hadoop.mapred.JobConf;

/**
 * What the job's settings mean for one reduce task. Immutable.
 *
 * @param shared what tasks and NodeManagers have in common
 * @param limits of each fetcher's batches
 */
record ReduceSettings(MapReduceSettings shared, BatchLimits limits) {
  private static final long MOST_WINDOW_BYTES = 32L << 20;

  /** Behind the transport's own deadlines, which end a wait in all cases but a bug. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /**
   * @throws ConfigException naming key, value and range
   */
  static ReduceSettings from(JobConf conf) {
    MapReduceSettings shared = MapReduceSettings.ofTask(conf);
    ClientSettings client = shared.transport().client();
    long poolBytes = Math.min(client.poolBytes(), shared.transport().readerHoldsBytes());
    return new ReduceSettings(
        shared,
        new BatchLimits(
            MapOutputKeys.PIECE_BYTES,
            new WindowShares(poolBytes, MapOutputKeys.PIECE_BYTES, MOST_WINDOW_BYTES),
            client.fetchTimeout().plus(GRACE)));
  }

  boolean isOff() {
    return shared.isOff();
  }

  /** How long a host is left to HTTP after its first failure. */
  Duration restMinimum() {
    return shared.transport().client().breakerMinimum();
  }

  /** The longest such time. */
  Duration restMaximum() {
    return shared.transport().client().breakerMaximum();
  }
}
