package io.rdmashuffle.transport.verbs;

/**
 * A reusable list of RDMA READs for one call of {@link QueuePair#postReads}. One thread at a time;
 * holds no memory of its own beyond the arrays.
 */
public final class ReadChain {
  private final long[] wrIds;
  private final long[] localAddresses;
  private final int[] lkeys;
  private final long[] remoteAddresses;
  private final int[] rkeys;
  private final int[] bytes;
  private int size;

  /**
   * @param capacity requests it can hold
   */
  public ReadChain(int capacity) {
    wrIds = new long[capacity];
    localAddresses = new long[capacity];
    lkeys = new int[capacity];
    remoteAddresses = new long[capacity];
    rkeys = new int[capacity];
    bytes = new int[capacity];
  }

  /** Starts the next READ; fill it in with {@link #from} and {@link #into}. */
  public ReadChain add(int payloadBytes) {
    if (payloadBytes <= 0) {
      throw new IllegalArgumentException("READ of " + payloadBytes + " bytes");
    }
    wrIds[size] = 0;
    bytes[size] = payloadBytes;
    size++;
    return this;
  }

  /** The peer's memory that the READ added last takes. */
  public ReadChain from(long remoteAddress, int rkey) {
    remoteAddresses[size - 1] = remoteAddress;
    rkeys[size - 1] = rkey;
    return this;
  }

  /** The local memory that the READ added last fills. */
  public ReadChain into(long localAddress, int lkey) {
    localAddresses[size - 1] = localAddress;
    lkeys[size - 1] = lkey;
    return this;
  }

  /** Gives one READ its wr_id. */
  public void stamp(int i, long wrId) {
    wrIds[i] = wrId;
  }

  public void clear() {
    size = 0;
  }

  public int size() {
    return size;
  }

  public int capacity() {
    return wrIds.length;
  }

  public boolean isFull() {
    return size == wrIds.length;
  }

  public long wrId(int i) {
    return wrIds[i];
  }

  public int bytes(int i) {
    return bytes[i];
  }

  public long localAddress(int i) {
    return localAddresses[i];
  }

  public int lkey(int i) {
    return lkeys[i];
  }

  public long remoteAddress(int i) {
    return remoteAddresses[i];
  }

  public int rkey(int i) {
    return rkeys[i];
  }
}
