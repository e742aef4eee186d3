package io.rdmashuffle.transport.testing.fake;

/** One request of a send queue: a SEND or a READ. */
record SendRequest(Kind kind, long wrId, boolean signalled, Local local, Remote remote) {
  enum Kind {
    SEND,
    READ
  }

  record Local(long address, int bytes, int lkey) {}

  record Remote(long address, int rkey) {
    static final Remote NONE = new Remote(0, 0);
  }

  boolean isRead() {
    return kind == Kind.READ;
  }

  int bytes() {
    return local.bytes();
  }
}
