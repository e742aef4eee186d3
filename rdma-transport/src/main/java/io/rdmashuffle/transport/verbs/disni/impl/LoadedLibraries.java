package io.rdmashuffle.transport.verbs.disni.impl;

import io.rdmashuffle.transport.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The verbs libraries of one provider. The provider, each of its devices and each call that needs
 * no other object hold them; with the last holder the software adapter is unloaded. Any thread.
 */
final class LoadedLibraries {
  private final AtomicInteger holders = new AtomicInteger(1); // the provider

  /** A call that may run while the last holder lets go. */
  interface Call<T> {
    T run() throws VerbsException;
  }

  /** Each success needs one {@link #release()}. */
  void acquire() throws VerbsException {
    if (holders.getAndUpdate(n -> n == 0 ? 0 : n + 1) == 0) {
      throw Failures.closed("the verbs provider");
    }
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      NativeExtras.unloadLibraries();
    }
  }

  <T> T holding(Call<T> call) throws VerbsException {
    acquire();
    try {
      return call.run();
    } finally {
      release();
    }
  }
}
