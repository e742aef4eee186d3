package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.FallbackReason;
import io.rdmashuffle.transport.wire.BlockKey;
import java.util.List;

/**
 * The reader's side as the rest of the process sees it.
 *
 * <p><b>Threads:</b> any; {@link #fetch} never blocks.
 */
public interface BlockClient extends AutoCloseable {
  /**
   * Gets blocks of one peer. Every index is reported to the listener exactly once, on a delivery
   * thread, never on the caller's: as a block or as a fallback, within the settings' deadlines.
   */
  void fetch(Peer peer, List<BlockKey> keys, FetchListener listener);

  /** The peer's process is gone for good: drop its connection. */
  void forget(String peerId);

  /** Idempotent. Fetches in progress fall back with reason STOPPING. Waits with a deadline. */
  @Override
  void close();

  /** Hears of the blocks of one fetch. Calls may come from several threads at a time. */
  interface FetchListener {
    /**
     * @param index of the key
     * @param block owned by the callee, who closes it
     */
    void onBlock(int index, Block block);

    /**
     * @param indices of keys that the caller must get another way
     */
    void onFallback(int[] indices, FallbackReason reason);
  }
}
