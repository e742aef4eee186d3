package io.rdmashuffle.transport.verbs.disni.impl;

import java.io.IOException;

/** What native code throws: a call and its errno. {@link Failures} makes it readable. */
final class NativeFailure extends IOException {
  private static final long serialVersionUID = 1L;
  private final int errno;

  /** Called by libdisni.so (rdma_error.c). */
  NativeFailure(String call, int errno) {
    super(call);
    this.errno = errno;
  }

  int errno() {
    return errno;
  }
}
