package io.rdmashuffle.mapreduce.reduce;

import io.rdmashuffle.core.config.ConfigException;
import io.rdmashuffle.mapreduce.MapOutputKeys;
import io.rdmashuffle.mapreduce.MapReduceSettings;
import io.rdmashuffle.transport.client.ClientSettings;
import java.time.Duration;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapreduce.MRJobConfig;

/**
 * What the job's settings mean for one reduce task. Immutable.
 *
 * @param shared what tasks and NodeManagers have in common
 * @param limits of each fetcher's batches
 */
record ReduceSettings(MapReduceSettings shared, BatchLimits limits) {
  private static final int FETCHERS = 5; // Hadoop's default
  private static final long MOST_WINDOW_BYTES = 8L << 20;

  /** Behind the transport's own deadlines, which end a wait in all cases but a bug. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  /**
   * @throws ConfigException naming key, value and range
   */
  static ReduceSettings from(JobConf conf) {
    MapReduceSettings shared = MapReduceSettings.ofTask(conf);
    ClientSettings client = shared.transport().client();
    int fetchers = Math.max(1, conf.getInt(MRJobConfig.SHUFFLE_PARALLEL_COPIES, FETCHERS));
    return new ReduceSettings(
        shared,
        new BatchLimits(
            MapOutputKeys.PIECE_BYTES,
            windowBytes(client.poolBytes(), fetchers),
            client.fetchTimeout().plus(GRACE)));
  }

  /** A fetcher's share of the pool, so that together they never wait for memory for long. */
  private static long windowBytes(long poolBytes, int fetchers) {
    long share = Math.min(MOST_WINDOW_BYTES, poolBytes / fetchers);
    return Math.max(MapOutputKeys.PIECE_BYTES, share);
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
