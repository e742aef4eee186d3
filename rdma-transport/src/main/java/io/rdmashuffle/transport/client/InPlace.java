package io.rdmashuffle.transport.client;

/** A block that stays in the registered memory it was read into. */
final class InPlace implements Landing {
  private final Slice first;
  private Slice current;
  private int offset;
  private int reserved;

  /**
   * @param first room for the whole block; taken over
   */
  InPlace(Slice first) {
    this.first = first;
    this.current = first;
  }

  Slice first() {
    return first;
  }

  @Override
  public int reserve(int wantedBytes) {
    if (offset == current.bytes()) {
      current = current.next();
      offset = 0;
    }
    reserved = Math.min(wantedBytes, current.bytes() - offset);
    return reserved;
  }

  @Override
  public long address() {
    return current.address() + offset;
  }

  @Override
  public int lkey() {
    return current.lkey();
  }

  @Override
  public CopyOut take() {
    offset += reserved;
    return null;
  }

  @Override
  public void release() {
    first.releaseAll();
  }
}
