package io.rdmashuffle.transport.client;

import java.nio.ByteBuffer;

/**
 * What one READ brought into transit memory, and where it belongs. Made on the progress thread, run
 * by a copy thread.
 */
final class CopyOut {
  private final Slice transit;
  private final Slice target;
  private final int offset;

  /**
   * @param transit taken over
   * @param target where the first byte goes; what does not fit goes to the slices that follow
   * @param offset of the first byte in it
   */
  CopyOut(Slice transit, Slice target, int offset) {
    this.transit = transit;
    this.target = target;
    this.offset = offset;
  }

  int bytes() {
    return transit.bytes();
  }

  /** Copies. The transit memory stays until {@link #release}. */
  void run() {
    ByteBuffer from = transit.view();
    int done = 0;
    int at = offset;
    for (Slice slice = target; done < from.limit(); slice = slice.next()) {
      int length = Math.min(from.limit() - done, slice.bytes() - at);
      slice.view().put(at, from, done, length);
      done += length;
      at = 0;
    }
  }

  /** Gives the transit memory back. Once only. */
  void release() {
    transit.releaseAll();
  }
}
