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
  private final CopyOut[] copies;
  private int size;
  private int copyCount;
  private long payloadBytes;

  ReadBatch(ReadPump pump, int capacity) {
    this.pump = pump;
    this.blocks = new PendingBlock[capacity];
    this.copies = new CopyOut[capacity];
  }

  /** A READ that stays where it lands. */
  void add(PendingBlock block, int bytes) {
    blocks[size++] = block;
    payloadBytes += bytes;
  }

  /** A READ whose bytes are copied on when they have arrived. */
  void add(PendingBlock block, CopyOut copy) {
    copies[size] = copy;
    copyCount++;
    add(block, copy.bytes());
  }

  int size() {
    return size;
  }

  /** How many of its READs are to be copied out. */
  int copies() {
    return copyCount;
  }

  long payloadBytes() {
    return payloadBytes;
  }

  PendingBlock block(int i) {
    return blocks[i];
  }

  /** Null for a READ that stays. */
  CopyOut copy(int i) {
    return copies[i];
  }

  /** Ready for the next chain; keeps nothing reachable. */
  void clear() {
    for (int i = 0; i < size; i++) {
      blocks[i] = null;
      copies[i] = null;
    }
    size = 0;
    copyCount = 0;
    payloadBytes = 0;
  }

  @Override
  public void onRead() {
    pump.completed(this);
  }

  @Override
  public void onRefused(int read, TransportException cause) {
    pump.refused(this, read);
  }

  @Override
  public void onFailed(TransportException cause) {
    pump.failed(this);
  }
}
