package io.rdmashuffle.transport.client;

/** All fetches that are not settled. Adding one allocates nothing. Progress thread only. */
final class LiveFetches {
  private Fetch newest;

  void add(Fetch fetch) {
    fetch.link(newest);
    newest = fetch;
  }

  /** Idempotent. */
  void remove(Fetch fetch) {
    if (fetch == newest) {
      newest = fetch.before();
    }
    fetch.unlink();
  }

  /** Returns null if there is none. */
  Fetch newest() {
    return newest;
  }
}
