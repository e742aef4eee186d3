package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;

/**
 * Where blocks lie: implemented by the engine's side. Any thread.
 *
 * <p>A file named here is never changed in place while it is known; when it goes away the catalog's
 * owner tells {@link BlockServer#forget}.
 */
public interface BlockCatalog {
  /**
   * Looks in memory only; must not block: it is called on the progress thread.
   *
   * @param scope the credential under which the reader connected: the job in MapReduce, ignored in
   *     Spark
   * @return null if not known without reading a file; {@link #load} is asked next
   */
  BlockLocation find(long scope, BlockKey key);

  /**
   * Finds it the slow way, off the progress thread: reads an index file, for instance.
   *
   * @return null if there is no such block
   * @throws IOException if the index cannot be read or contradicts the data file
   */
  BlockLocation load(long scope, BlockKey key) throws IOException;
}
