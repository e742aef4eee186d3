package io.rdmashuffle.spark;

import io.rdmashuffle.core.adapter.AdapterFinder;
import io.rdmashuffle.core.adapter.DeviceSpec;
import io.rdmashuffle.core.config.ConfigReader;
import io.rdmashuffle.core.config.Mode;
import io.rdmashuffle.core.config.RdmaOptions;
import io.rdmashuffle.core.config.RdmaSettings;
import io.rdmashuffle.spark.runtime.Availability.Absent;
import io.rdmashuffle.spark.runtime.FallbackPolicy;
import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.TransportSettings;
import io.rdmashuffle.transport.memory.MemoryBudget;
import io.rdmashuffle.transport.memory.OverflowLimit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/**
 * What Spark's configuration means for the shuffle. Spark's own keys that matter are read here and
 * nowhere else. Immutable.
 */
final class SparkSettings {
  /** In front of every key of {@link RdmaOptions}. */
  static final String PREFIX = "spark.shuffle.rdma.";

  private static final double DEFAULT_OVERHEAD_FACTOR = 0.1;
  private static final long LEAST_OVERHEAD_MIB = 384;

  private final SparkConf conf;
  private final ConfigReader reader;
  private final RdmaSettings rdma;
  private final boolean driver;

  private SparkSettings(SparkConf conf, ConfigReader reader, boolean driver) {
    this.conf = conf;
    this.reader = reader;
    this.rdma = RdmaSettings.from(reader);
    this.driver = driver;
  }

  /**
   * Checks every value, so that a wrong one stops the start of the application.
   *
   * @param driver whether this is the driver's process
   * @throws io.rdmashuffle.core.config.ConfigException naming key, value and range
   */
  static SparkSettings read(SparkConf conf, boolean driver) {
    ConfigReader reader = new ConfigReader(PREFIX, key -> conf.get(key, null));
    List<String> keys = Arrays.stream(conf.getAll()).map(Tuple2::_1).toList();
    reader.refuseUnknown(keys);
    return new SparkSettings(conf, reader, driver);
  }

  RdmaSettings rdma() {
    return rdma;
  }

  /** RDMA was switched off by the user, so that nothing of ours needs to stand in the way. */
  boolean switchedOff() {
    return rdma.mode() == Mode.OFF;
  }

  boolean externalShuffleService() {
    return conf.getBoolean("spark.shuffle.service.enabled", false);
  }

  /** Finds the adapter that is configured. */
  AdapterFinder adapters() {
    return new AdapterFinder(DeviceSpec.of(rdma, reader));
  }

  TransportSettings transport() {
    return new TransportSettings(
        rdma.channel(), rdma.server(), rdma.client(), registeredBound(), overflowLimit());
  }

  /** What the container, or else the user, allows to be registered. */
  private MemoryBudget.Bound registeredBound() {
    long shareBytes = rdma.memory().registeredShareBytes(overheadBytes());
    long mostBytes = rdma.memory().registeredMaxBytes();
    String maxKey = reader.fullKey(RdmaOptions.REGISTERED_MAX);
    String raiseShare =
        "raise spark.executor.memoryOverhead or " + reader.fullKey(RdmaOptions.OVERHEAD_SHARE);
    String share = "five sixths of " + rdma.memory().overheadShare() + " % of the memory overhead";
    if (mostBytes == 0) {
      return new MemoryBudget.Bound(
          shareBytes, share, inContainer() ? raiseShare : raiseShare + ", or set " + maxKey);
    }
    if (inContainer() && mostBytes > shareBytes) {
      return new MemoryBudget.Bound(
          shareBytes, share + ", less than " + maxKey, "for more, " + raiseShare);
    }
    return new MemoryBudget.Bound(mostBytes, maxKey, "raise it");
  }

  private OverflowLimit overflowLimit() {
    return inContainer() ? rdma.memory().overflow(overheadBytes()) : OverflowLimit.STANDALONE;
  }

  /** Whether the cluster manager bounds the memory of the process. */
  private boolean inContainer() {
    String master = conf.get("spark.master", "");
    return master.startsWith("yarn") || master.startsWith("k8s://");
  }

  FallbackPolicy policy() {
    return new FallbackPolicy(rdma.mode(), reader.fullKey(RdmaOptions.MODE), obstacle());
  }

  /** What the container may hold beyond the heap, as Spark asks the cluster manager for it. */
  long overheadBytes() {
    long mib =
        conf.contains("spark.executor.memoryOverhead")
            ? conf.getSizeAsMb("spark.executor.memoryOverhead")
            : Math.max(
                conf.getSizeAsMb("spark.executor.minMemoryOverhead", LEAST_OVERHEAD_MIB + "m"),
                (long)
                    (conf.getSizeAsMb("spark.executor.memory", "1g")
                        * conf.getDouble(
                            "spark.executor.memoryOverheadFactor", DEFAULT_OVERHEAD_FACTOR)));
    return mib << 20;
  }

  private Optional<Absent> obstacle() {
    if (driver && !localMode()) {
      return Optional.of(Absent.forGood(FallbackReason.NO_DEVICE, "the driver runs no tasks"));
    }
    if (conf.getBoolean("spark.shuffle.useOldFetchProtocol", false)) {
      return Optional.of(
          Absent.forGood(
              FallbackReason.NOT_SUPPORTED,
              "spark.shuffle.useOldFetchProtocol=true lets a map output be replaced by another of"
                  + " the same name; unset it"));
    }
    return EncryptionPolicy.of(
            conf, rdma.allowUnencrypted(), reader.fullKey(RdmaOptions.ALLOW_UNENCRYPTED))
        .obstacle();
  }

  private boolean localMode() {
    String master = conf.get("spark.master", "");
    return master.equals("local") || master.startsWith("local[");
  }
}
