package io.rdmashuffle.transport.client;

import io.rdmashuffle.transport.TransportException;
import io.rdmashuffle.transport.channel.ReaderChannel.ReadHandler;

/**
 * What the READs of one posted chain belong to. Reused: a chain costs no allocation. Progress
 * thread only.
 */
final class ReadBatch implements ReadHandler {
  private final ReadPump pump;
  private final PendingBlock[] blocks;
  private final Slice[] transits;
  private final int[] parts;
  private int size;
  private int transitCount;
  private long payloadBytes;

  ReadBatch(ReadPump pump, int capacity) {
    this.pump = pump;
    this.blocks = new PendingBlock[capacity];
    this.transits = new Slice[capacity];
    this.parts = new int[capacity];
  }

  /** A READ that stays where it lands. */
  void add(PendingBlock block, int bytes) {
    blocks[size++] = block;
    payloadBytes += bytes;
  }

  /** A READ whose bytes are copied out of {@code transit} as the given part of the block. */
  void addTransit(PendingBlock block, Slice transit, int part) {
    transits[size] = transit;
    parts[size] = part;
    transitCount++;
    add(block, transit.bytes());
  }

  int size() {
    return size;
  }

  /** How many of its READs are to be copied out. */
  int transitCount() {
    return transitCount;
  }

  long payloadBytes() {
    return payloadBytes;
  }

  PendingBlock block(int i) {
    return blocks[i];
  }

  /** Null for a READ that stays. */
  Slice transit(int i) {
    return transits[i];
  }

  int part(int i) {
    return parts[i];
  }

  /** Ready for the next chain; keeps nothing reachable. */
  void clear() {
    for (int i = 0; i < size; i++) {
      blocks[i] = null;
      transits[i] = null;
    }
    size = 0;
    transitCount = 0;
    payloadBytes = 0;
  }

  @Override
  public void onRead() {
    pump.completed(this);
  }

  @Override
  public void onFailed(TransportException cause) {
    pump.failed(this);
  }
}
