package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.TransportException.Kind;
import io.rdmashuffle.transport.verbs.VerbsException;

/**
 * An object of the fabric that somebody must close. Its state is guarded by the fabric's monitor:
 * the whole fake is one critical section, which is what makes it simple.
 */
abstract class Tracked implements AutoCloseable {
  final FakeFabric fabric;
  private final Resource resource;
  private boolean closed;

  Tracked(FakeFabric fabric, Resource resource) {
    this.fabric = fabric;
    this.resource = resource;
    fabric.ledger().opened(this, resource);
  }

  /** What remains to be done when it closes, once, under the monitor. Throws if it is in use. */
  abstract void release();

  /**
   * Idempotent. Closing what is in use throws, stays open and is reported at the end of the test.
   */
  @Override
  public final void close() {
    synchronized (fabric) {
      if (closed) {
        return;
      }
      release();
      closed = true;
      fabric.ledger().closed(this);
      fabric.changed();
    }
  }

  final boolean isClosed() {
    return closed;
  }

  final void requireOpen(String call) throws VerbsException {
    if (closed) {
      throw bug(call + " on a closed " + resource, Errno.EINVAL);
    }
  }

  /** A broken rule of the interface: an exception now, and a failure of the test at its end. */
  final void forbid(boolean broken, String rule) {
    if (broken) {
      fabric.ledger().violated(resource + ": " + rule);
      throw new IllegalStateException(resource + ": " + rule);
    }
  }

  static VerbsException bug(String message, Errno errno) {
    return failure(Kind.BUG, message, errno);
  }

  static VerbsException failure(Kind kind, String message, Errno errno) {
    return new VerbsException(
        kind, message + ": " + errno + " (" + errno.number() + ")", errno.number());
  }
}
