package io.rdmashuffle.transport.channel;

import io.rdmashuffle.transport.CloseStack;
import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.memory.MemorySource;
import io.rdmashuffle.transport.memory.RegisteredMemory;
import io.rdmashuffle.transport.wire.WireLimits;
import java.nio.ByteBuffer;

/**
 * The registered frames of one connection: messages leave from them and arrive in them. Views are
 * made once, so that a message allocates nothing here.
 *
 * <p><b>Threads:</b> made and closed off the progress thread, used on it.
 */
final class Frames implements AutoCloseable {
  private final RegisteredMemory memory;
  private final ByteBuffer[] views;

  private Frames(RegisteredMemory memory, ByteBuffer[] views) {
    this.memory = memory;
    this.views = views;
  }

  static Frames allocate(MemorySource source, int count) throws TransportException {
    try (CloseStack undo = new CloseStack()) {
      RegisteredMemory memory = undo.push(source.allocate((long) count * WireLimits.FRAME_BYTES));
      ByteBuffer[] views = new ByteBuffer[count];
      for (int i = 0; i < count; i++) {
        views[i] = memory.view((long) i * WireLimits.FRAME_BYTES, WireLimits.FRAME_BYTES);
      }
      Frames frames = new Frames(memory, views);
      undo.handOver();
      return frames;
    }
  }

  long address(int frame) {
    return memory.address() + (long) frame * WireLimits.FRAME_BYTES;
  }

  int lkey() {
    return memory.lkey();
  }

  /** The whole frame, position 0; valid until the next call for the same frame. */
  ByteBuffer buffer(int frame) {
    return views[frame].clear();
  }

  /** Idempotent. */
  @Override
  public void close() {
    memory.close();
  }
}
