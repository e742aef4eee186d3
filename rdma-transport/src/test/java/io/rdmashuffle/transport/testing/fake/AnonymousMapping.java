package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.Access;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Ordinary memory. What remains of its views after it is closed shows 0xDB everywhere. */
final class AnonymousMapping extends FakeMapping {
  private static final byte POISON = (byte) 0xDB;
  private final ByteBuffer content;

  AnonymousMapping(FakeHostMemory memory, FakeRegion.Range range) {
    super(memory, range);
    content = ByteBuffer.allocateDirect((int) range.bytes());
  }

  @Override
  boolean canBeRegistered(Access access) {
    return true;
  }

  @Override
  ByteBuffer content() {
    return content;
  }

  @Override
  boolean isIntact(long offsetBytes, int bytes) {
    return true;
  }

  @Override
  ByteBuffer viewOf(int offsetBytes, int bytes) {
    return content.slice(offsetBytes, bytes);
  }

  @Override
  void dispose() {
    byte[] poison = new byte[4096];
    Arrays.fill(poison, POISON);
    ByteBuffer all = content.duplicate().clear();
    while (all.hasRemaining()) {
      all.put(poison, 0, Math.min(poison.length, all.remaining()));
    }
  }
}
