package io.rdmashuffle.transport.testing.fake;

import io.rdmashuffle.transport.verbs.Access;
import io.rdmashuffle.transport.verbs.Mapping;
import java.nio.ByteBuffer;

/** A mapped range of a fake process. */
abstract class FakeMapping extends Tracked implements Mapping {
  private final FakeHostMemory memory;
  private final FakeRegion.Range range;
  private int regions;

  FakeMapping(FakeHostMemory memory, FakeRegion.Range range) {
    super(memory.fabric(), Resource.MAPPING);
    this.memory = memory;
    this.range = range;
  }

  /** Whether the kernel lets an adapter pin it with that right. */
  abstract boolean canBeRegistered(Access access);

  /** What pinning does beside. */
  void onPinned() {}

  /** The memory itself, from the start of the mapping; may be shorter than it. */
  abstract ByteBuffer content();

  /** Whether all of the range can still be read. */
  abstract boolean isIntact(long offsetBytes, int bytes);

  abstract void dispose();

  @Override
  public final long address() {
    return range.address();
  }

  @Override
  public final long bytes() {
    return range.bytes();
  }

  @Override
  public ByteBuffer view(long offsetBytes, int bytes) {
    if (offsetBytes < 0 || bytes < 0 || bytes > range.bytes() - offsetBytes) {
      throw new IndexOutOfBoundsException(
          "view of " + bytes + " bytes at " + offsetBytes + " of " + range.bytes());
    }
    if (isClosed()) {
      throw new IllegalStateException("view of a closed mapping");
    }
    return viewOf((int) offsetBytes, bytes);
  }

  abstract ByteBuffer viewOf(int offsetBytes, int bytes);

  final FakeRegion.Range range() {
    return range;
  }

  final void addRegion() {
    regions++;
  }

  final void removeRegion() {
    regions--;
  }

  /** Copies as an adapter does. Returns whether the source could be read. */
  static boolean copy(FakeMapping from, long fromAddress, FakeMapping to, FakeRegion.Range sink) {
    int length = (int) sink.bytes();
    int fromOffset = (int) (fromAddress - from.address());
    int toOffset = (int) (sink.address() - to.address());
    if (!from.isIntact(fromOffset, length)) {
      return false;
    }
    int present = Math.max(0, Math.min(length, from.content().capacity() - fromOffset));
    to.content().put(toOffset, from.content(), fromOffset, present);
    for (int i = present; i < length; i++) {
      to.content().put(toOffset + i, (byte) 0);
    }
    return true;
  }

  @Override
  final void release() {
    forbid(regions != 0, "unmapped under " + regions + " regions");
    memory.remove(this);
    dispose();
  }
}
