package io.rdmashuffle.transport.server;

import io.rdmashuffle.transport.wire.BlockKey;
import java.io.IOException;
import java.util.List;

/** Asks the catalog the slow way for some keys of a request. */
final class CatalogLoad implements SlowLanes.Job {
  /** How many keys one turn of a session may ask for. */
  static final int MOST_KEYS = 16;

  private final LocateCall call;
  private final ServerParts parts;
  private final long scope;
  private final String host;
  private final List<BlockKey> keys;
  private final int[] indices;
  private final BlockLocation[] found;

  /**
   * @param keys of the whole request
   * @param indices those to be asked for
   */
  CatalogLoad(
      LocateCall call,
      ServerParts parts,
      ServerSession session,
      List<BlockKey> keys,
      int[] indices) {
    this.call = call;
    this.parts = parts;
    this.scope = session.scope();
    this.host = session.host();
    this.keys = keys;
    this.indices = indices;
    this.found = new BlockLocation[indices.length];
  }

  @Override
  public void run() {
    for (int i = 0; i < indices.length && !call.isFinished(); i++) {
      BlockKey key = keys.get(indices[i]);
      try {
        found[i] = parts.catalog().load(scope, key);
      } catch (IOException | RuntimeException e) {
        parts.reports().catalogFailed(host, scope, key, e);
      }
    }
  }

  @Override
  public void onDone(Throwable failure) {
    if (failure != null) {
      parts.reports().catalogFailed(host, scope, keys.get(indices[0]), failure);
    }
    call.onLoaded(indices, found);
  }
}
