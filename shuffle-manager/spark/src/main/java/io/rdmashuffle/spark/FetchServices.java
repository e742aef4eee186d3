package io.rdmashuffle.spark;

import io.rdmashuffle.spark.runtime.PeerExecutor;
import io.rdmashuffle.spark.runtime.ShuffleRuntime;
import org.apache.spark.network.shuffle.BlockStoreClient;

/**
 * What all readers of a process share.
 *
 * @param runtime whether there is RDMA, and the counters
 * @param engine the client that Spark would have used
 * @param executor for calls to it from threads that must not wait
 */
record FetchServices(ShuffleRuntime runtime, BlockStoreClient engine, PeerExecutor executor) {}
