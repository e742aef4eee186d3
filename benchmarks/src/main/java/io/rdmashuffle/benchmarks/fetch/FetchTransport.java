package io.rdmashuffle.benchmarks.fetch;

import java.util.function.LongConsumer;

/**
 * A way to fetch blocks, under measurement. Owner and reader are different processes.
 *
 * <p>Any thread. Closed by its opener.
 */
interface FetchTransport extends AutoCloseable {
  /**
   * Asks for blocks; returns at once.
   *
   * @param maps file of each block
   * @param partitions partition of each block
   * @param onBlock told once per block with its digest, if digests are asked for, else with 0; on
   *     failure with -1
   * @param digest whether to read the bytes
   */
  void fetch(int[] maps, int[] partitions, boolean digest, LongConsumer onBlock);

  /** How many blocks came by Netty although this is another transport. */
  default long byNetty() {
    return 0;
  }

  @Override
  void close();

  /** The owner's half. */
  interface Owner extends AutoCloseable {
    /** What the reader must be told to reach it: one word. */
    String endpoint();

    @Override
    void close();
  }
}
