package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** A catalog that the test fills in; keys it knows only the slow way wait to be loaded. */
final class MapCatalog implements BlockCatalog {
  private final Map<BlockKey, BlockLocation> known = new ConcurrentHashMap<>();
  private final Map<BlockKey, BlockLocation> onDisk = new ConcurrentHashMap<>();
  private volatile RuntimeException findFailure;
  private volatile Error findError;
  private volatile IOException loadFailure;

  void put(BlockKey key, BlockLocation where) {
    known.put(key, where);
  }

  /** Found by {@link #load} only, the first time. */
  void putOnDisk(BlockKey key, BlockLocation where) {
    onDisk.put(key, where);
  }

  void remove(OutputFile file) {
    known.values().removeIf(l -> l.file() == file);
    onDisk.values().removeIf(l -> l.file() == file);
  }

  void failFind(RuntimeException failure) {
    findFailure = failure;
  }

  /** An error that no code is prepared for. */
  void breakFind(Error failure) {
    findError = failure;
  }

  void failLoad(IOException failure) {
    loadFailure = failure;
  }

  @Override
  public BlockLocation find(long scope, BlockKey key) {
    if (findError != null) {
      throw findError;
    }
    if (findFailure != null) {
      throw findFailure;
    }
    return known.get(key);
  }

  @Override
  public BlockLocation load(long scope, BlockKey key) throws IOException {
    if (loadFailure != null) {
      throw loadFailure;
    }
    BlockLocation found = onDisk.get(key);
    if (found != null) {
      known.put(key, found);
    }
    return found != null ? found : known.get(key);
  }
}
