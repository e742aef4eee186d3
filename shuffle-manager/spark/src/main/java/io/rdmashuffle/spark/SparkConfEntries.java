package io.rdmashuffle.spark;

import org.apache.spark.SparkConf;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.internal.config.package$;
import org.apache.spark.io.CompressionCodec$;

/**
 * Spark's own settings for reading shuffles, by its own entries, so that defaults and checks are
 * Spark's.
 */
record SparkConfEntries(SparkConf conf) {
  private static final package$ ENTRIES = package$.MODULE$;

  long maxBytesInFlight() {
    return number(ENTRIES.REDUCER_MAX_SIZE_IN_FLIGHT()) << 20; // the entry is in MiB
  }

  int maxRequestsInFlight() {
    return Math.toIntExact(number(ENTRIES.REDUCER_MAX_REQS_IN_FLIGHT()));
  }

  int maxBlocksInFlightPerAddress() {
    return Math.toIntExact(number(ENTRIES.REDUCER_MAX_BLOCKS_IN_FLIGHT_PER_ADDRESS()));
  }

  long maxBytesInMemory() {
    return number(ENTRIES.MAX_REMOTE_BLOCK_SIZE_FETCH_TO_MEM());
  }

  int maxAttemptsOnNettyOutOfMemory() {
    return Math.toIntExact(number(ENTRIES.SHUFFLE_MAX_ATTEMPTS_ON_NETTY_OOM()));
  }

  boolean detectCorruption() {
    return flag(ENTRIES.SHUFFLE_DETECT_CORRUPT());
  }

  boolean detectCorruptionInMemory() {
    return flag(ENTRIES.SHUFFLE_DETECT_CORRUPT_MEMORY());
  }

  boolean checksums() {
    return flag(ENTRIES.SHUFFLE_CHECKSUM_ENABLED());
  }

  String checksumAlgorithm() {
    return (String) value(ENTRIES.SHUFFLE_CHECKSUM_ALGORITHM());
  }

  /** Whether several blocks can be decoded as one. As in BlockStoreShuffleReader. */
  boolean blocksCanBeJoined() {
    boolean codecAllows =
        !flag(ENTRIES.SHUFFLE_COMPRESS())
            || CompressionCodec$.MODULE$.supportsConcatenationOfSerializedStreams(
                CompressionCodec$.MODULE$.createCodec(conf));
    return codecAllows
        && !flag(ENTRIES.SHUFFLE_USE_OLD_FETCH_PROTOCOL())
        && !flag(ENTRIES.IO_ENCRYPTION_ENABLED());
  }

  private boolean flag(ConfigEntry<?> entry) {
    return (Boolean) value(entry);
  }

  private long number(ConfigEntry<?> entry) {
    return ((Number) value(entry)).longValue();
  }

  private Object value(ConfigEntry<?> entry) {
    return conf.get(entry);
  }
}
