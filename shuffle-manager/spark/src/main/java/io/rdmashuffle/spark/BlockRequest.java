package io.rdmashuffle.spark;

import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.apache.spark.network.shuffle.DownloadFileManager;

/**
 * Blocks that Spark asks of one peer.
 *
 * @param host of the peer
 * @param port of the peer, or of its host's external shuffle service
 * @param executorId of the peer
 * @param ids names of the blocks
 * @param listener hears of each id exactly once
 * @param files where blocks are to be written to, null to keep them in memory
 */
record BlockRequest(
    String host,
    int port,
    String executorId,
    String[] ids,
    BlockFetchingListener listener,
    DownloadFileManager files) {

  BlockRequest only(String[] someIds) {
    return new BlockRequest(host, port, executorId, someIds, listener, files);
  }
}
